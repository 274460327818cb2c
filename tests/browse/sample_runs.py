"""Two runs over the sample, written by lighteval's own code."""

from dataclasses import dataclass
from pathlib import Path

from planted import Planted, RunWriter, Said, reply, right, said_by, wrong

from egobench_tasks.data import DatasetLocation, fingerprint, load_rows

THINKER, HASTY = "thinker-8B", "hasty-2B"


@dataclass(frozen=True)
class SampleRuns:
    """The sample's dataset and two runs: one that thinks and is right but for every third question, one that is
    wrong and cut short at every second."""

    location: DatasetLocation
    rows: list[dict]
    paths: list[Path]


def thinks(row: dict, number: int) -> Said:
    said = wrong(row) if number % 3 == 2 else right(row)
    return Said(f"<think>\nThe first clip shows a <b>door</b> & a wall.\n</think>\n{said.text}", said.finish_reason)


def write_sample_runs(dataset: Path, folder: Path) -> SampleRuns:
    """Also used by hand, to look at the page."""
    location = DatasetLocation(str(dataset))
    loaded = {config: load_rows(location, config) for config in ("single", "multi")}
    planted = Planted(
        location,
        {config: list(rows) for config, rows in loaded.items()},
        {config: fingerprint(rows) for config, rows in loaded.items()},
    )
    rows = [row for members in planted.rows.values() for row in members]
    number = {row["question_id"]: index for index, row in enumerate(rows)}
    writer = RunWriter(planted)

    def cut(row: dict) -> Said:
        return Said("<think>\nLooking at", "length") if number[row["question_id"]] % 2 else reply(row, "A")

    thinker = said_by(planted, lambda row: thinks(row, number[row["question_id"]]))
    paths = [
        writer.write(folder / THINKER, THINKER, thinker),
        writer.write(folder / HASTY, HASTY, said_by(planted, cut)),
    ]
    return SampleRuns(location, rows, paths)
