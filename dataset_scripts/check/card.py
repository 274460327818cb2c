"""Rules on the card and the benchmark's registration; nothing else checks them before the Hub shows them."""

import re
from collections.abc import Collection, Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import yaml

from dataset_scripts.check.finding import Finding, error
from dataset_scripts.check.input import CARD, REGISTRATION, DatasetFolder
from dataset_scripts.repository.hub_vocabulary import (
    LANGUAGES,
    LICENCES,
    SIZE_CATEGORIES,
    TASK_CATEGORIES,
    size_category,
)
from egobench_tasks.benchmarks import EGOTEMPO
from egobench_tasks.documents import parse_yaml

_FRONT_MATTER = re.compile(r"---\r?\n(?P<yaml>.*?)\r?\n---\r?\n", re.DOTALL)
_REQUIRED_TAGS = ("video", "benchmark")


def read_card_data(folder: Path) -> Mapping[str, Any]:
    """Return the YAML block of a folder's card.

    Raises ``ValueError`` where there is none, or it is no mapping of unique keys.
    """
    try:
        match = _FRONT_MATTER.match((folder / CARD).read_text(encoding="utf-8"))
    except OSError as problem:
        raise ValueError(f"cannot be read ({problem.strerror})") from problem
    if match is None:
        raise ValueError("does not start with a YAML block between two lines of ---")
    return _mapping(match["yaml"])


def _mapping(text: str) -> Mapping[str, Any]:
    try:
        data = parse_yaml(text)
    except yaml.YAMLError as problem:
        raise ValueError(f"broken YAML: {' '.join(str(problem).split())}") from problem
    if not isinstance(data, dict):
        raise ValueError("its YAML is no mapping")
    return data


def card_findings(folder: DatasetFolder) -> Iterator[Finding]:
    """Check the card's words, its configs against the files, and ``eval.yaml``."""
    try:
        card = read_card_data(folder.root)
    except ValueError as problem:
        yield error("card", CARD, str(problem))
        return
    yield from _words(card)
    yield from _size(card, sum(len(table.rows) for table in folder.tables))
    yield from _configs(card, folder)
    yield from _sharing(card, folder)
    yield from _registration(folder, config_names(card))


def config_names(card: Mapping[str, Any]) -> list[str]:
    """Return the names of a card's configs, the default one first."""
    configs = card.get("configs")
    return (
        [str(one.get("config_name")) for one in configs if isinstance(one, dict)] if isinstance(configs, list) else []
    )


def _words(card: Mapping[str, Any]) -> Iterator[Finding]:
    known = {
        "license": LICENCES,
        "task_categories": TASK_CATEGORIES,
        "language": LANGUAGES,
        "size_categories": SIZE_CATEGORIES,
    }
    for key, words in known.items():
        values = card.get(key) if isinstance(card.get(key), list) else [card.get(key)]
        for value in values or [None]:
            if value not in words:
                yield error("card", CARD, f"{key}: {value!r} is not known to the Hub")
    if not card.get("pretty_name"):
        yield error("card", CARD, "pretty_name is missing")
    for tag in _REQUIRED_TAGS:
        if tag not in (card.get("tags") or ()):
            yield error("card", CARD, f"tags lack {tag!r}")


def _size(card: Mapping[str, Any], n_rows: int) -> Iterator[Finding]:
    stated, right = card.get("size_categories"), size_category(n_rows)
    if isinstance(stated, list) and stated != [right] and all(one in SIZE_CATEGORIES for one in stated):
        yield error("card", CARD, f"size_categories: {', '.join(stated)}, but {n_rows} rows are {right}")


def _configs(card: Mapping[str, Any], folder: DatasetFolder) -> Iterator[Finding]:
    configs = card.get("configs")
    if not isinstance(configs, list) or not all(isinstance(one, dict) for one in configs) or not configs:
        yield error("card-config", CARD, "configs: is missing or no list")
        return
    names = [one.get("config_name") for one in configs]
    if len(set(names)) != len(names):
        yield error("card-config", CARD, f"configs: a name is given twice: {', '.join(map(str, names))}")
    if "default" not in names and [one.get("config_name") for one in configs if one.get("default")] != names[:1]:
        yield error("card-config", CARD, "configs: the first, and it alone, must be the default")
    matched: set[str] = set()
    for config in configs:
        for pattern in _patterns(config):
            files = {file for file in folder.files if fnmatchcase(file, pattern)}
            matched |= files
            if not files:
                yield error("card-config", CARD, f"config {config.get('config_name')}: {pattern} matches no file")
    for table in folder.tables:
        if table.path not in matched:
            yield error("card-config", CARD, f"no config takes in {table.path}")


def _patterns(config: Mapping[str, Any]) -> Iterator[str]:
    for split in config.get("data_files") or ():
        paths = split.get("path") if isinstance(split, dict) else split
        yield from map(str, paths if isinstance(paths, list) else [paths])


def _sharing(card: Mapping[str, Any], folder: DatasetFolder) -> Iterator[Finding]:
    """EgoTempo's clips are Ego4D's: the card says so, and `egobench publish` goes by it."""
    ours = card.get("egobench")
    if folder.report.get("builder") == EGOTEMPO.name and (
        not isinstance(ours, dict) or ours.get("clips_may_be_shared") is not False
    ):
        yield error("card", CARD, "must say egobench: clips_may_be_shared: false (the Ego4D licence)")


def _registration(folder: DatasetFolder, configs: Collection[object]) -> Iterator[Finding]:
    try:
        data = _mapping((folder.root / REGISTRATION).read_text(encoding="utf-8"))
    except OSError:
        yield error("registration", REGISTRATION, "is missing; build the dataset again")
        return
    except ValueError as problem:
        yield error("registration", REGISTRATION, str(problem))
        return
    for key in ("name", "description", "evaluation_framework"):
        if not isinstance(data.get(key), str) or not data[key].strip():
            yield error("registration", REGISTRATION, f"{key} is missing or no text")
    tasks = data["tasks"] if isinstance(data.get("tasks"), list) else []
    ids = [task.get("id") if isinstance(task, dict) else None for task in tasks]
    if not ids or not all(isinstance(one, str) and one for one in ids) or len(set(ids)) != len(ids):
        yield error("registration", REGISTRATION, "tasks is no list of tasks with an id of their own each")
        return
    for task in tasks:
        if task.get("config") not in configs:
            yield error(
                "registration", REGISTRATION, f"task {task['id']}: the card has no config {task.get('config')!r}"
            )
