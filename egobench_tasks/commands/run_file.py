"""A run as a file says it: checked whole, then one command line of ours a model, each in a process of its own.

The file's options are those of the command line, read from its own definitions, so that there is one list of them.
"""

import json
import tempfile
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

import typer

from egobench_tasks.asking.catalogue import entries_named
from egobench_tasks.asking.probes import PROBES, PROBES_NAME, probe_task
from egobench_tasks.commands.run_plan import ModelRun, RunPlan
from egobench_tasks.commands.runs import check_data, run_app
from egobench_tasks.documents import read_yaml
from egobench_tasks.errors import InputError
from egobench_tasks.files import check_output_folder, inside
from egobench_tasks.hosts.endpoint.settings import load_endpoint_settings
from egobench_tasks.hosts.lighteval.options import lighteval_options_command, parse_lighteval_options
from egobench_tasks.hosts.lighteval.vision.names import SETTINGS as VISION_SETTINGS
from egobench_tasks.judge.settings import load_settings
from egobench_tasks.runs.repeats import check_repeats
from egobench_tasks.runs.shards import parse_shard
from egobench_tasks.texts import nearest

KINDS = ("transformers", "endpoint")
OWN_KEYS = ("models", "tasks", "probes", "judge", "output", "report", "verbose")
_NOT_IN_A_FILE = ("help", "output_dir")  # `output` names the folder over all models' folders


def read_plan(path: Path, *, dry_run: bool = False, report: bool = False, verbose: bool = False) -> RunPlan:
    """Read a run's file and check all that can be checked before a model is loaded.

    Raises ``InputError`` naming the file and the key: one that is unknown, with the nearest that is known, and values
    that no command line would take; and what tasks, datasets, settings and folders raise.
    """
    loaded = read_yaml(path, "the run")
    if not isinstance(loaded, dict):
        raise InputError(f"{path}: must be a mapping with models, tasks and output")
    _check_keys(loaded, {*OWN_KEYS, *_options("transformers"), *_options("endpoint")}, str(path))
    if missing := [name for name in ("models", "tasks", "output") if not loaded.get(name)]:
        raise InputError(f"{path}: {' and '.join(missing)} must be set")
    _check_types(loaded, path)
    with_flags = {**loaded, "dry_run": dry_run or loaded.get("dry_run", False)}
    with_flags["verbose"] = verbose or loaded.get("verbose", False)
    tasks = _task_names(loaded, path)
    output = Path(str(loaded["output"])).expanduser()
    models = _models(with_flags, tasks, output, path)
    check_output_folder(output)
    check_data(entries_named(tasks))
    plan = RunPlan(
        models=models,
        output=output,
        judge=_judge(loaded.get("judge")),
        report=_report_folder(loaded.get("report", False) or report, output),
        dry_run=bool(with_flags["dry_run"]),
    )
    _check_judge(plan.judge)
    return plan


def _models(loaded: Mapping[str, Any], tasks: str, output: Path, path: Path) -> tuple[ModelRun, ...]:
    listed = loaded["models"]
    if not isinstance(listed, list):
        raise InputError(f"{path}: models must be a list, `- transformers: …` or `- endpoint: …` each")
    shared = {name: value for name, value in loaded.items() if name not in OWN_KEYS or name == "verbose"}
    models = tuple(_model(entry, shared, tasks, output, f"{path}: model {n}") for n, entry in enumerate(listed, 1))
    names = [model.name for model in models]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise InputError(f"{path}: two models are called {twice[0]}; give one of them another `name:`")
    return models


def _model(entry: object, shared: Mapping[str, Any], tasks: str, output: Path, where: str) -> ModelRun:
    kinds = [kind for kind in KINDS if isinstance(entry, dict) and kind in entry]
    if not isinstance(entry, dict) or len(kinds) != 1:
        raise InputError(f"{where}: must hold either `transformers:` or `endpoint:`")
    (kind,) = kinds
    _check_keys(entry, {kind, "name", *_options(kind)}, where)
    given = entry[kind]
    settings = given if isinstance(given, dict) else None
    check = {"transformers": _check_transformers, "endpoint": _check_endpoint}[kind]
    options = {**shared, **{name: value for name, value in entry.items() if name not in (kind, "name")}}
    named = check(given, options, where)
    name = inside(str(entry.get("name") or Path(named).name))
    folder = output / name
    arguments = [tasks, "--output-dir", str(folder), *_arguments(kind, options, where)]
    if settings is not None and kind == "transformers":
        settings = {"model_parameters": settings}
    model = "" if settings is not None else str(given)
    return ModelRun(name=name, kind=kind, model=model, arguments=tuple(arguments), folder=folder, settings=settings)


def _check_transformers(given: object, options: Mapping[str, Any], where: str) -> str:
    """Check the names of a transformers model's settings; their values wait for torch. Returns the model's name."""
    if isinstance(given, str) and given.endswith((".yaml", ".yml")):
        loaded = read_yaml(Path(given), "the model's settings")
        given = loaded.get("model_parameters") if isinstance(loaded, dict) else None
    if isinstance(given, str):
        given = {part.partition("=")[0].strip(): part.partition("=")[2] for part in given.split(",")}
        # A comma within braces cuts a name in two here; such a text is read in full once the model is loaded.
        given = {name: value for name, value in given.items() if "{" not in str(value) and "}" not in str(value)}
    if not isinstance(given, dict) or not given.get("model_name"):
        raise InputError(f"{where}: transformers must be `model_name=…,…`, a mapping with model_name, or a YAML file")
    _check_keys(given, VISION_SETTINGS, f"{where}: transformers")
    return str(given["model_name"])


def _check_endpoint(given: object, options: Mapping[str, Any], where: str) -> str:
    """Check an endpoint's settings whole. Returns the model's name."""
    settings = _with_file(given, where, load_endpoint_settings)
    settings.secrets()
    check_repeats(int(options.get("repeats") or 1), settings.temperature, settings.seed, "temperature")
    return str(settings.model)


def _with_file(given: object, where: str, read: Callable[[Path], Any]) -> Any:
    """What a reader of files makes of a file's name, or of a mapping that stands in its place."""
    if isinstance(given, str):
        return read(Path(given))
    if not isinstance(given, dict):
        raise InputError(f"{where}: must be a YAML file or a mapping of settings")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "settings.yaml"
        path.write_text(json.dumps(given))  # JSON is YAML
        try:
            return read(path)
        except InputError as error:
            raise InputError(str(error).replace(str(path), where)) from None


def _command(kind: str) -> Any:
    group: Any = typer.main.get_command(run_app)
    return group.commands[kind]


def _options(kind: str) -> dict[str, Any]:
    """The options that a kind of run takes on the command line, lighteval's too, by name."""
    options = [*_command(kind).params, *lighteval_options_command().params]
    return {
        option.name: option
        for option in options
        if option.param_type_name == "option" and option.name not in _NOT_IN_A_FILE
    }


def _arguments(kind: str, given: Mapping[str, Any], where: str) -> list[str]:
    """A command line's options from a file's, read as the command line reads them."""
    known = _options(kind)
    arguments: list[str] = []
    for name, value in given.items():
        if name not in known or value is None:
            continue  # another kind's, or not given
        flag, option = max(known[name].opts, key=len), known[name]
        if not option.is_flag:
            arguments += [flag, str(value)]
        elif not isinstance(value, bool):
            raise InputError(f"{where}: {name} must be true or false; got {value!r}")
        elif value:
            arguments.append(flag)
        elif option.secondary_opts:
            arguments.append(max(option.secondary_opts, key=len))
    try:
        read = _command(kind).make_context(kind, ["MODEL", "TASKS", *arguments])
        parse_lighteval_options(read.args, where)
    except Exception as error:  # click's, which typer may bring along under a name of its own
        if not hasattr(error, "format_message"):
            raise
        raise InputError(f"{where}: {error.format_message()}") from None
    if (shard := given.get("shard")) is not None:
        parse_shard(str(shard))
    return arguments


def _task_names(loaded: Mapping[str, Any], path: Path) -> str:
    names = [*_listed(loaded["tasks"]), *(_probe_name(name, path) for name in _listed(loaded.get("probes") or []))]
    entries_named(",".join(names))
    return ",".join(names)


def _listed(value: object) -> list[str]:
    return [str(one) for one in value] if isinstance(value, list) else str(value).split(",")


def _probe_name(name: str, path: Path) -> str:
    if name == PROBES_NAME:
        return name
    if name not in PROBES:
        raise InputError(f"{path}: no probe {name!r}; {nearest(name, [*PROBES, PROBES_NAME])}")
    return probe_task(name)


def _judge(given: object) -> Mapping[str, Any] | str | None:
    if given is None or isinstance(given, dict):
        return given
    return str(Path(str(given)).expanduser())


def _check_judge(given: Mapping[str, Any] | str | None) -> None:
    if given is None:
        load_settings()
    else:
        _with_file(given, "judge", lambda path: load_settings(config=path))


def _report_folder(given: object, output: Path) -> Path | None:
    if isinstance(given, bool):
        return output / "report" if given else None
    return Path(str(given)).expanduser()


def _check_types(loaded: Mapping[str, Any], path: Path) -> None:
    """Refuse what YAML reads as another type than is meant: ``output: [night]`` would be a folder named so."""
    wrong: Mapping[str, tuple[tuple[type, ...], str]] = {
        "output": ((list, dict, bool), "a folder"),
        "report": ((list, dict), "true, false or a folder"),
        "tasks": ((dict, bool), "a name or a list of names"),
        "probes": ((dict, bool), "a name or a list of names"),
        "judge": ((list, bool), "a YAML file or a mapping of settings"),
    }
    for name, (types, meant) in wrong.items():
        if isinstance(value := loaded.get(name), types):
            raise InputError(f"{path}: {name} must be {meant}; got {value!r}")


def _check_keys(given: Mapping[Any, Any], known: Collection[str], where: str) -> None:
    for name in given:
        if name not in known:
            raise InputError(f"{where}: there is no {str(name)!r}; {nearest(str(name), known)}")
