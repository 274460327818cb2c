"""lighteval's options on our command lines, read by lighteval's own definitions, which are quick to import."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer
from lighteval import cli_args

from egobench_tasks.errors import InputError


@dataclass(frozen=True, slots=True)
class LightevalOptions:
    """lighteval's options, as given on a command line, sorted by who takes them."""

    tracker: dict[str, Any]
    pipeline: dict[str, Any]

    @property
    def output_dir(self) -> Path:
        """The folder that results go to."""
        return Path(self.tracker["output_dir"])


def parse_lighteval_options(
    arguments: Sequence[str], command: str, *, others_pass: bool = False
) -> LightevalOptions | None:
    """Read lighteval's saving and debugging options with lighteval's own definitions.

    None where the arguments ask for help, which is printed. Raises ``InputError`` for what is no
    such option, unless ``others_pass``; ``command`` is what it says was called.
    """
    try:
        parsed = lighteval_options_command(others_pass=others_pass).main(
            list(arguments), prog_name=command, standalone_mode=False
        )
    except Exception as error:  # click's, which typer may bring along under a name of its own
        if hasattr(error, "format_message"):
            raise InputError(f"{command}: {error.format_message()}") from None
        raise
    return parsed if isinstance(parsed, LightevalOptions) else None


def lighteval_options_command(*, others_pass: bool = False) -> Any:
    """Return a click command that takes nothing but lighteval's options."""
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    others = {"ignore_unknown_options": others_pass, "allow_extra_args": others_pass}
    app.command(context_settings=others)(_options)
    return typer.main.get_command(app)


def _options(
    dataset_loading_processes: cli_args.dataset_loading_processes.type = cli_args.dataset_loading_processes.default,
    output_dir: cli_args.output_dir.type = cli_args.output_dir.default,
    results_path_template: cli_args.results_path_template.type = cli_args.results_path_template.default,
    push_to_hub: cli_args.push_to_hub.type = cli_args.push_to_hub.default,
    push_to_tensorboard: cli_args.push_to_tensorboard.type = cli_args.push_to_tensorboard.default,
    public_run: cli_args.public_run.type = cli_args.public_run.default,
    results_org: cli_args.results_org.type = cli_args.results_org.default,
    save_details: cli_args.save_details.type = cli_args.save_details.default,
    max_samples: cli_args.max_samples.type = cli_args.max_samples.default,
    job_id: cli_args.job_id.type = cli_args.job_id.default,
) -> LightevalOptions:
    """Further options, lighteval's own."""
    if max_samples is not None and max_samples < 1:  # lighteval takes none for all
        raise InputError(f"--max-samples {max_samples}: is at least 1; leave it out to ask everything")
    tracker = {
        "output_dir": output_dir,
        "results_path_template": results_path_template,
        "save_details": save_details,
        "push_to_hub": push_to_hub,
        "push_to_tensorboard": push_to_tensorboard,
        "public": public_run,
        "hub_results_org": results_org,
    }
    pipeline = {
        "dataset_loading_processes": dataset_loading_processes,
        "max_samples": max_samples,
        "job_id": job_id,
    }
    return LightevalOptions(tracker, pipeline)
