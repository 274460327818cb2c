"""The lmms-eval form's task: a YAML file and the ``utils.py`` that it names, which needs nothing of this package."""

from pathlib import Path

from egobench_tasks.errors import InputError
from egobench_tasks.files import write_atomically
from egobench_tasks.hosts.export.manifest import Manifest

_UTILS = Path(__file__).parent / "lmms_eval_utils.py"


def task_name(manifest: Manifest) -> str:
    """Return the task's name for lmms-eval's ``--tasks``: of this very export, since lmms-eval keeps answers by it."""
    return f"egobench_{(manifest.digest or '')[:8]}"


def check_budgets(budgets: set[int]) -> None:
    """Raise ``InputError`` where questions differ in their budgets: a task of lmms-eval has one."""
    if len(budgets) > 1:
        raise InputError(
            f"these tasks give answers {' and '.join(map(str, sorted(budgets)))} new tokens, and a task of lmms-eval "
            "has one budget: export EgoGears and EgoTempo apart, or set max_tokens in --config"
        )


def write_task(folder: Path, manifest: Manifest) -> None:
    """Write the YAML file and ``utils.py`` beside the questions and their frames."""
    (budget_tokens,) = {question.budget_tokens for question in manifest.written}
    name = task_name(manifest)
    # Quoted as JSON, which YAML takes; relative names would be looked for in the user's working folder.
    files = [str(folder.resolve() / part.name) for part in manifest.parts]
    lines = [
        f"task: {name}",
        "dataset_path: json",
        "dataset_kwargs:",
        "  data_files:",
        "    test:",
        *(f"      - {_quoted(file)}" for file in files),
        "test_split: test",
        "output_type: generate_until",
        "doc_to_messages: !function utils.doc_to_messages",
        "doc_to_visual: !function utils.doc_to_visual",
        "doc_to_text: !function utils.doc_to_text",
        "doc_to_target: id",
        "process_results: !function utils.process_results",
        "generation_kwargs:",
        f"  max_new_tokens: {budget_tokens}",
        "  temperature: 0",
        "  do_sample: false",
        "  until: []",
        "metric_list:",
        "  - metric: replied",
        "    aggregation: mean",
        "    higher_is_better: true",
        "metadata:",
        "  - version: 1.0",
    ]
    with write_atomically(folder / "utils.py") as file:
        file.write(_UTILS.read_bytes())
    with write_atomically(folder / f"{name}.yaml") as file:
        file.write(("\n".join(lines) + "\n").encode())


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
