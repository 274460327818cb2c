"""One judge's verdicts on one run, in a file of its own under the run: ``verdicts/<judge>-<digest>.json``.

Of a run that is a file (an Inspect log, ``NAME.eval``) the folder is ``NAME.verdicts`` beside it.
Every verdict names the answer that it is of by a digest, so that verdicts on other answers are never taken for these.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from egobench_tasks.documents import parse_json
from egobench_tasks.errors import InputError
from egobench_tasks.files import write_atomically
from egobench_tasks.judge.identity import JudgeIdentity, answer_digest, from_record, to_record
from egobench_tasks.judge.prompt import JudgeItem
from egobench_tasks.judge.verdict import Judgement, Verdict

FOLDER = "verdicts"
SCHEMA = 2
_MAX_NAME = 100
_JUDGE_AGAIN = "run `egobench judge` on the run again: verdicts that are still known are not asked for anew"


@dataclass(frozen=True, slots=True)
class VerdictFile:
    """What one judge said of answers, by `identity.answer_digest`; None of an answer that it gave no verdict on."""

    path: Path
    judge: JudgeIdentity
    verdicts: Mapping[str, Verdict | None]

    def of(self, item: JudgeItem) -> Verdict | None:
        """Return the verdict on an answer; None where there is none, or none of this very answer."""
        return self.verdicts.get(answer_digest(item))


def verdicts_folder(run: Path) -> Path:
    """Return the folder of a run's verdicts, whether it is there or not."""
    return run.with_suffix(f".{FOLDER}") if run.is_file() else run / FOLDER


def verdicts_path(run: Path, judge: JudgeIdentity) -> Path:
    """Return where a judge's verdicts on a run are kept. Two judges never share a file, whatever their names."""
    whole = json.dumps([judge.digest, judge.served]).encode()
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", judge.model).strip("-.")
    return verdicts_folder(run) / f"{name[:_MAX_NAME] or 'judge'}-{hashlib.sha256(whole).hexdigest()[:12]}.json"


def write_verdicts(run: Path, judge: JudgeIdentity, judged: Iterable[tuple[str, JudgeItem, Judgement]]) -> Path:
    """Write a judge's judgements of a run's answers, as (task, item, judgement); return where."""
    path = verdicts_path(run, judge)
    records = [
        {
            "task": task,
            "question_id": item.question_id,
            "answer": answer_digest(item),
            "verdict": judgement.verdict and asdict(judgement.verdict),
            "failure": judgement.failure,
            "raw": judgement.raw,
        }
        for task, item, judgement in judged
    ]
    path.parent.mkdir(exist_ok=True)
    with write_atomically(path) as file:
        content = {"schema": SCHEMA, "judge": to_record(judge), "verdicts": records}
        # ASCII: a judge may have said half a surrogate pair, which no encoding carries
        file.write((json.dumps(content, indent=1) + "\n").encode())
    return path


def read_verdict_files(run: Path) -> list[VerdictFile]:
    """Return the verdict files of a run, by name. Raises ``InputError`` for one that cannot be read."""
    return [_read(path) for path in sorted(verdicts_folder(run).glob("*.json"))]


def _read(path: Path) -> VerdictFile:
    try:
        content: Mapping[str, Any] = parse_json(path.read_text(encoding="utf-8"))
        if content.get("schema") != SCHEMA:
            raise InputError(f"{path}: does not say of which answers its verdicts are; remove it, and {_JUDGE_AGAIN}")
        verdicts = {
            str(record["answer"]): None if record["verdict"] is None else Verdict(**record["verdict"])
            for record in content["verdicts"]
        }
        return VerdictFile(path, from_record(content["judge"]), verdicts)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{path}: cannot be read as verdicts ({error}); remove it, and {_JUDGE_AGAIN}") from error
