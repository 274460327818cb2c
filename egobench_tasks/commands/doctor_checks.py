"""What `egobench doctor` looks at: each check is one line, "ok" or what to do about it."""

import asyncio
import importlib
import importlib.util
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from importlib import metadata, resources
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from egobench_tasks.benchmarks import BENCHMARKS, EGOGEARS, Benchmark
from egobench_tasks.cache import CACHE_VARIABLE, cache_dir, may_write
from egobench_tasks.data import (
    DatasetLocation,
    benchmark_of,
    load_rows_with_clips,
    locate,
    missing_clips,
    parse_location,
    pin,
)
from egobench_tasks.errors import EgobenchError, InputError
from egobench_tasks.extras import DISTRIBUTION, install_command
from egobench_tasks.judge.settings import JudgeSettings, load_settings
from egobench_tasks.runs.circumstances import LIBRARIES, library_versions
from egobench_tasks.texts import first_line, some_of

TESTED_PYTHON = (3, 11)
LITTLE_SPACE_GB = 10
"""The frames of EgoGears take about 5 GB, a report next to nothing."""
PATIENCE_S = 30.0
"""Of one request to a server that is looked at."""
_SIGNS = "± × – ●"
_GB = 10**9


class State(StrEnum):
    """OK; NOTE: works, and something is to be known; WRONG: a run would fail, or its figures would be others."""

    OK = "ok"
    NOTE = "note"
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at: what, how it is, what was seen, and what to do where it is not well."""

    name: str
    state: State
    seen: str
    remedy: str = ""


def pinned_versions() -> dict[str, str]:
    """Return the versions of constraints.txt, which goes with the package, by canonical name."""
    text = (resources.files("egobench_tasks") / "constraints.txt").read_text(encoding="utf-8")
    pins = (line.partition("==") for line in text.splitlines() if "==" in line and not line.startswith("#"))
    return {canonicalize_name(name.strip()): version.strip() for name, _, version in pins}


def check_python() -> Check:
    """Python's version against the one that the tests run with; pip refuses older ones."""
    here = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info[:2] == TESTED_PYTHON:
        return Check("python", State.OK, here)
    return Check("python", State.NOTE, here, f"tested with {'.'.join(map(str, TESTED_PYTHON))}; others should do")


def check_libraries() -> Iterator[Check]:
    """Versions outside the package's bounds, a line each; then how many differ from the tested ones."""
    faults = False
    for text in metadata.requires(DISTRIBUTION) or []:
        needed = Requirement(text)
        if needed.marker is not None and not needed.marker.evaluate({"extra": ""}):
            continue
        here = library_versions([needed.name]).get(needed.name)
        if here is None or not needed.specifier.contains(here, prereleases=True):
            faults = True
            seen = "not installed" if here is None else here
            yield Check(needed.name, State.WRONG, seen, f"pip install '{needed.name}{needed.specifier}'")
    tested, here_all = pinned_versions(), library_versions(LIBRARIES)
    other = [
        f"{name} {version} (tested {tested[key]})"
        for name, version in here_all.items()
        if (key := canonicalize_name(name)) in tested and tested[key] != version.partition("+")[0]
    ]
    if other:
        yield Check("libraries", State.NOTE, ", ".join(other), "scores may differ a little from those elsewhere")
    elif not faults:
        yield Check("libraries", State.OK, f"the {len(here_all)} that shape answers are the tested versions")


def check_video_packages() -> Iterator[Check]:
    """Torchvision, which many processors need, and torchcodec, which `datasets` decodes with; we need neither."""
    vlm = f"Qwen-VL, InternVL and SmolVLM2 need it: {install_command('vlm')}"
    codec = "only `datasets` itself needs it, for rows[0]['video']; runs do not"
    yield _importable("torchvision", vlm)
    yield _importable("torchcodec", codec)


def _importable(name: str, why: str) -> Check:
    if importlib.util.find_spec(name) is None:
        return Check(name, State.NOTE, "not installed", why)
    version = library_versions([name]).get(name, "")
    try:
        importlib.import_module(name)
    except Exception as error:  # a build for another torch or another FFmpeg fails in any way it likes
        return Check(name, State.WRONG, f"{version} does not import: {first_line(error)}", f"uninstall it, or {why}")
    return Check(name, State.OK, version)


def check_gpu() -> Check:
    """The GPUs that torch sees."""
    from egobench_tasks.hosts.lighteval.devices import gpu_names

    names = gpu_names()
    if names:
        return Check("gpu", State.OK, ", ".join(names))
    return Check("gpu", State.NOTE, "none that torch sees", "serve the model elsewhere, and run it as an endpoint")


def check_datasets(dataset: str | None) -> Iterator[Check]:
    """The dataset that is named, or those that the tasks would find."""
    if dataset is not None:
        yield from _looked_at("dataset", lambda: parse_location(dataset, where="DATASET"))
        return
    for benchmark in BENCHMARKS:
        yield from _looked_at(benchmark.name, partial(locate, benchmark), required=False)


def _looked_at(name: str, find: Callable[[], DatasetLocation], *, required: bool = True) -> Iterator[Check]:
    try:
        location = find()
    except InputError as error:
        text = str(error)
        if required or "is not here" not in text:
            yield Check(name, State.WRONG, first_line(error), "give a folder, or ORG/NAME[@REVISION]")
        else:
            yield Check(name, State.NOTE, "no dataset here", f"egobench build {name}, or set its variable")
        return
    try:
        location = pin(location)
        benchmark, configs = benchmark_of(location)
        yield _whole(benchmark, configs, location)
        yield _stored_frames(benchmark, location)
    except EgobenchError as error:
        yield Check(name, State.WRONG, first_line(error), f"egobench check {location.path}")


def _whole(benchmark: Benchmark, configs: tuple[str, ...], location: DatasetLocation) -> Check:
    rows = {config: load_rows_with_clips(location, config) for config in configs}
    published = benchmark.rows if benchmark is EGOGEARS else {configs[0]: benchmark.rows}  # type: ignore[attr-defined]
    n_missing = sum(clip is None for of in rows.values() for clip in of["video"])
    gone = [path for of in rows.values() for path in missing_clips(of)]
    counts = ", ".join(f"{len(rows.get(name, ()))} of {count}" for name, count in published.items())
    seen = f"{location}: {benchmark.title}, {counts} questions"
    if gone:
        names = some_of([Path(path).name for path in gone])
        return Check(benchmark.name, State.WRONG, f"{seen}, {len(gone)} clips are gone: {names}", "put them back")
    if n_missing:
        return Check(benchmark.name, State.NOTE, f"{seen}, {n_missing} without a clip", "runs over it are partial")
    if any(len(rows.get(name, ())) != count for name, count in published.items()):
        return Check(benchmark.name, State.NOTE, seen, "scores over it do not compare with published ones")
    return Check(benchmark.name, State.OK, seen)


def _stored_frames(benchmark: Benchmark, location: DatasetLocation) -> Check:
    from egobench_tasks.asking.frame_requests import dataset_requests
    from egobench_tasks.frames.store import FrameStore

    store = FrameStore()
    wanted = {(request.sha256, request.spec) for request in dataset_requests(location, None)}
    n_there = sum(store.holds(sha256, spec) for sha256, spec in wanted)
    seen = f"{n_there:,} of {len(wanted):,} clips' frames in the store"
    if n_there == len(wanted):
        return Check(f"{benchmark.name} frames", State.OK, seen)
    return Check(f"{benchmark.name} frames", State.NOTE, seen, f"before a run: egobench frames {location.path}")


def check_endpoint(path: Path) -> Check:
    """Whether an endpoint answers, and sees what it is shown."""
    from egobench_tasks.hosts.endpoint.settings import EndpointSettings, load_endpoint_settings
    from egobench_tasks.hosts.endpoint.sight import check_sight
    from egobench_tasks.servers.client import ServerClient

    async def look(settings: EndpointSettings) -> int | None:
        async with ServerClient(settings, tell=lambda line: None) as client:
            return await check_sight(client, settings)

    try:
        settings = load_endpoint_settings(path)
        hasty = replace(settings, max_retries=0, timeout_s=min(settings.timeout_s, PATIENCE_S), max_stall_s=PATIENCE_S)
        n_tokens = asyncio.run(look(hasty))
    except EgobenchError as error:
        return Check("endpoint", State.WRONG, first_line(error), f"see {path}, and the server's log")
    took = "" if n_tokens is None else f", {n_tokens} tokens a frame"
    return Check("endpoint", State.OK, f"{settings.model} at {settings.base_url} answers and sees{took}")


def check_run_file(path: Path) -> Check:
    """Whether a run's file can be run: its keys, tasks, datasets, settings and folder."""
    from egobench_tasks.commands.run_file import read_plan

    try:
        plan = read_plan(path)
    except EgobenchError as error:
        return Check("run file", State.WRONG, first_line(error), f"mend {path}")
    return Check("run file", State.OK, f"{path}: {len(plan.models)} models, results go to {plan.output}")


def check_judge() -> Check:
    """Whether the judge that is configured gives a verdict."""
    from egobench_tasks.judge.client import judge
    from egobench_tasks.judge.prompt import JudgeItem
    from egobench_tasks.judge.store import VerdictStore

    try:
        settings: JudgeSettings | None = load_settings()
        if settings is None:
            remedy = "EgoTempo's accuracy needs one: set EGOBENCH_JUDGE_BASE_URL and EGOBENCH_JUDGE_MODEL"
            return Check("judge", State.NOTE, "none is configured", remedy)
        hasty = replace(settings, max_retries=0, timeout_s=min(settings.timeout_s, PATIENCE_S), max_stall_s=PATIENCE_S)
        with tempfile.TemporaryDirectory() as folder:
            item = JudgeItem("doctor", "What colour is the door?", "The door is red.", "Red.")
            (judgement,) = judge([item], hasty, VerdictStore(Path(folder) / "verdicts.jsonl"))
    except EgobenchError as error:
        return Check("judge", State.WRONG, first_line(error), "see EGOBENCH_JUDGE_…, and the server's log")
    where = f"{settings.model} at {settings.base_url}"
    if judgement.verdict is None:
        why = judgement.failure.value if judgement.failure else "no verdict"
        return Check("judge", State.WRONG, f"{where}: {why}", "see EGOBENCH_JUDGE_…, and the server's log")
    said = "right" if judgement.verdict.correct else "wrong"
    return Check("judge", State.OK, f'{where} gives verdicts (calls "Red." {said})')


def check_cache() -> Check:
    """Where frames and answers are kept, whether they can be, and how much room there is."""
    folder = cache_dir()
    there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    free_gb = shutil.disk_usage(there).free / _GB
    seen = f"{folder}, {free_gb:,.0f} GB free"
    if not may_write(folder):
        return Check("cache", State.WRONG, f"{folder} cannot be written", f"set {CACHE_VARIABLE} to a folder of yours")
    if free_gb < LITTLE_SPACE_GB:
        return Check("cache", State.NOTE, seen, f"make room, or set {CACHE_VARIABLE}: frames take gigabytes")
    return Check("cache", State.OK, seen)


def check_terminal() -> Check:
    """Whether the terminal shows the signs that tables use."""
    encoding = sys.stdout.encoding or "unknown"
    try:
        _SIGNS.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return Check("terminal", State.NOTE, f"{encoding} lacks some of {_SIGNS!a}", "export PYTHONUTF8=1")
    return Check("terminal", State.OK, encoding)
