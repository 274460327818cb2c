"""What a judge is told and asked, in one fixed wording (PROTOCOL 2).

Two solved examples stand as earlier turns: without them a small judge writes code or prose about
a verdict instead of giving one. Question, gold answer and prediction are handed over as one JSON
object, so that text of a prediction stays a quoted string, whatever it says.
"""

import hashlib
import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

Message = dict[str, str]

_WORDING_FILE = Path(__file__).parent.parent / "templates" / "judge.toml"


@dataclass(frozen=True, slots=True)
class JudgeItem:
    """One prediction to judge. ``question_id`` names it in reports; the judge never sees it."""

    question_id: str
    question: str
    gold: str
    prediction: str


def judge_messages(item: JudgeItem) -> list[Message]:
    """Return the chat messages that ask for a verdict on one prediction."""
    return [*_prologue(), {"role": "user", "content": _quoted(item.question, item.gold, item.prediction)}]


def prompt_fingerprint() -> str:
    """Return the wording's version and a digest of its very characters; part of every verdict's key."""
    messages = judge_messages(JudgeItem("", "<question>", "<gold>", "<prediction>"))
    return f"{_wording()['version']}-{hashlib.sha256(json.dumps(messages).encode()).hexdigest()[:12]}"


@cache
def _wording() -> Mapping[str, Any]:
    return tomllib.loads(_WORDING_FILE.read_text(encoding="utf-8"))


def _prologue() -> list[Message]:
    messages = [{"role": "system", "content": _wording()["system"].strip()}]
    for example in _wording()["examples"]:
        verdict = {key: example[key] for key in ("pred", "score", "reason")}
        asked = _quoted(example["question"], example["gold"], example["prediction"])
        messages += [{"role": "user", "content": asked}, {"role": "assistant", "content": json.dumps(verdict)}]
    return messages


# Besides what JSON escapes anyway: brackets, since chat templates mark turns with <|im_end|> or
# [/INST] and a server's tokenizer takes such text for the mark itself; line separators; and lone
# surrogates, which no request can carry.
_UNSAFE = re.compile("[<>\\[\\]｜\u0085\u2028\u2029\ud800-\udfff]")


def _quoted(question: str, gold: str, prediction: str) -> str:
    text = json.dumps({"question": question, "gold_answer": gold, "prediction": prediction}, ensure_ascii=False)
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
