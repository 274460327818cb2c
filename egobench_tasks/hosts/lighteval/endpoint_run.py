"""``egobench run endpoint``: questions are asked in a thread while lighteval, which scores the answers, is imported.

Nothing is asked before settings, tasks, datasets, the judge's settings and the output folder are found right.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from egobench_tasks.errors import InputError
from egobench_tasks.files import check_output_folder
from egobench_tasks.hosts.endpoint.ahead import AskingAhead
from egobench_tasks.hosts.endpoint.questions import EndpointAnswers, Unanswered
from egobench_tasks.hosts.endpoint.settings import EndpointSettings, load_endpoint_settings
from egobench_tasks.hosts.lighteval.early import can_start_early, early_questions
from egobench_tasks.hosts.lighteval.options import LightevalOptions, parse_lighteval_options
from egobench_tasks.runs.another_model import refuse_another_model
from egobench_tasks.runs.repeats import check_repeats, current_repeats
from egobench_tasks.runs.shards import current_shard
from egobench_tasks.texts import some_of


def run_endpoint(config: Path, tasks: str, lighteval_arguments: Sequence[str] = (), *, dry_run: bool = False) -> int:
    """Ask the endpoint that a YAML file describes every question of the tasks, and score the answers.

    Args:
        config: the endpoint's settings, see `hosts.endpoint.settings.EndpointSettings`.
        tasks: as for lighteval: ``egogears``, ``egogears:single``, …
        lighteval_arguments: lighteval's own options, ``--output-dir DIR --save-details …``.
        dry_run: say how much is to be asked, and ask nothing but the sight check's tiny question, if that.

    Returns the exit code: 1 where questions stayed unanswered, else 0. Raises ``InputError`` for
    settings, tasks or options that cannot be used, ``EgobenchError`` where the server ignores images.
    """
    settings = load_endpoint_settings(config)
    _check_repeats(settings)
    settings.secrets()  # a missing key must not wait for the dataset to load
    options = parse_lighteval_options(lighteval_arguments, "egobench run endpoint CONFIG TASKS")
    if options is None:
        return 0
    if current_shard() is not None:
        options.tracker["save_details"] = True  # a shard is merged from its details
    if dry_run:
        print(_estimate(settings, tasks, options))
        return 0
    check_output_folder(options.output_dir)
    if not can_start_early(tasks, options):
        return _evaluate(settings, tasks, options, None)
    answers = EndpointAnswers(settings)
    questions = early_questions(tasks, options)
    refuse_another_model(options.output_dir, answers.answerer)
    print(answers.outlook(questions), file=sys.stderr, flush=True)
    with AskingAhead(answers, questions) as ahead:
        return _evaluate(settings, tasks, options, ahead)


def _evaluate(settings: EndpointSettings, tasks: str, options: LightevalOptions, ahead: AskingAhead | None) -> int:
    """Run lighteval, which takes seconds to import, and return the exit code."""
    from egobench_tasks.hosts.lighteval.endpoint import EndpointModel
    from egobench_tasks.hosts.lighteval.run import finish, make_pipeline

    model = EndpointModel(settings, ahead)
    finish(make_pipeline(tasks, model, options))
    _list_unanswered(model.unanswered)
    return 1 if model.unanswered else 0


def _estimate(settings: EndpointSettings, tasks: str, options: LightevalOptions) -> str:
    from egobench_tasks.hosts.lighteval.endpoint import EndpointModel, estimate_of
    from egobench_tasks.hosts.lighteval.run import make_pipeline

    return estimate_of(make_pipeline(tasks, EndpointModel(settings), options), settings)


def _check_repeats(settings: EndpointSettings) -> None:
    n_repeats = current_repeats()
    if n_repeats > 1 and "seed" in settings.extra_body:
        raise InputError(
            f"extra_body's seed would make {n_repeats} repeats alike: give it as the setting `seed`, which counts up"
        )
    check_repeats(n_repeats, settings.temperature, settings.seed, "temperature (0.7), or a seed that the server takes")


def _list_unanswered(unanswered: Sequence[Unanswered]) -> None:
    if not unanswered:
        return
    consequence = "they count as wrong (in EgoTempo neither as right nor as wrong), and the run is partial"
    print(f"\n{len(unanswered)} questions without an answer; {consequence}:", file=sys.stderr)
    alike: dict[tuple[str, str], list[str]] = {}
    for item in unanswered:
        alike.setdefault((item.task, item.reason), []).append(item.question_id)
    for (task, reason), question_ids in alike.items():
        print(f"  {task} {some_of(question_ids)}: {reason}", file=sys.stderr)
    print("The same command asks them again, and no other.", file=sys.stderr)
