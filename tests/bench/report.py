"""What a full report costs: 31 configurations over 2,054 questions (567 single, 1,487 multi).

    python tests/bench/report.py [--runs 31] [--chars 4000]

Writes synthetic runs in lighteval's format first (not timed), then scores and reports on them in
fresh processes. Goals: report under 30 s and 1 GB, scoring alone under 3 s, on 2 cores.
"""

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

GOALS = {"report": {"seconds": 30.0, "peak_mib": 1024.0}, "scoring": {"seconds": 3.0}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=31)
    parser.add_argument("--chars", type=int, default=4000, help="characters of reasoning before each answer")
    parser.add_argument("--worker", choices=("report", "scoring"), help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        measure(arguments.worker, arguments.folder)
        return
    with tempfile.TemporaryDirectory() as name:
        os.environ.update(HF_HOME=f"{name}/hf", HF_HUB_OFFLINE="1")
        write_runs(Path(name), arguments.runs, arguments.chars)
        for worker in ("scoring", "report"):
            command = [sys.executable, __file__, "--worker", worker, "--folder", name]
            print(worker, subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip())


def write_runs(folder: Path, n_runs: int, n_chars: int) -> None:
    sys.path.insert(0, str(Path(__file__).parent.parent / "report"))
    from planted import RunWriter, Said, mixed_rows, plant, right, said_by, wrong

    planted = plant(folder / "egogears", mixed_rows(567, 1487))
    writer = RunWriter(planted)
    for number in range(n_runs):
        generator = random.Random(number)
        skill = 0.1 + 0.8 * number / max(1, n_runs - 1)
        reasoning = "The wearer {passes} a wall. " * (n_chars // 27)

        def speak(row, generator=generator, skill=skill, reasoning=reasoning):
            said = right(row) if generator.random() < skill else wrong(row)
            return Said(f"<think>{reasoning}</think>{said.text}", "length" if generator.random() < 0.02 else "stop")

        name = f"Model-{number // 2}B-{('Instruct', 'Thinking')[number % 2]}"
        writer.write(folder / "runs" / name, name, said_by(planted, speak))


def measure(worker: str, folder: Path) -> None:
    """Print seconds (by the clock and of the processor) and peak memory of one part.

    Scoring is measured on texts in memory, for which its peak memory is of no interest.
    """
    started = time.perf_counter()
    from egobench_tasks.data import DatasetLocation
    from egobench_tasks.report.read.choice_outcomes import score_task
    from egobench_tasks.report.read.choice_questions import load_split
    from egobench_tasks.report.read.runs import find_runs
    from egobench_tasks.report.show.write import write_report

    location = DatasetLocation(str(folder / "egogears"))
    paths = sorted((folder / "runs").iterdir())
    imported, cpu_started = time.perf_counter(), time.process_time()
    if worker == "report":
        write_report(paths, folder / "out", find_dataset=lambda _: location)
    else:
        splits = {config: load_split(location, config) for config in ("single", "multi")}
        tasks = [(task, list(task.responses())) for run in find_runs(paths).choice for task in run.tasks]
        imported, cpu_started = time.perf_counter(), time.process_time()
        for task, responses in tasks:
            score_task(
                type(task)(task.config, task.source, task.settings, lambda said=responses: said), splits[task.config]
            )
    seconds, cpu_seconds = time.perf_counter() - imported, time.process_time() - cpu_started
    peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    figures = {
        "seconds": round(seconds, 2),
        "cpu_seconds": round(cpu_seconds, 2),
        "with_imports": round(time.perf_counter() - started, 2),
    }
    print(json.dumps({**figures, "peak_mib": round(peak_mib), "goals": GOALS[worker]}))


if __name__ == "__main__":
    main()
