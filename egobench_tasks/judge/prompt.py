"""What a judge is told and asked, in one fixed wording: ours, or that of a user's file (PROTOCOL 2).

Two solved examples stand as earlier turns: without them a small judge writes code or prose about
a verdict instead of giving one. Question, gold answer and prediction are handed over as one JSON
object, so that text of a prediction stays a quoted string, whatever it says.
"""

import hashlib
import json
import logging
import os
import re
import string
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from egobench_tasks.documents import read_toml
from egobench_tasks.errors import InputError
from egobench_tasks.judge.settings import PROMPT_VARIABLE

logger = logging.getLogger(__name__)

Message = dict[str, str]

_WORDING_FILE = Path(__file__).parent.parent / "templates" / "judge.toml"
_KEYS = frozenset({"version", "system", "user", "examples"})
_PLACEHOLDERS = frozenset({"question", "gold_answer", "prediction"})


@dataclass(frozen=True, slots=True)
class JudgeItem:
    """One prediction to judge. ``question_id`` names it in reports; the judge never sees it."""

    question_id: str
    question: str
    gold: str
    prediction: str


@dataclass(frozen=True, slots=True)
class Example:
    """A solved example: an earlier turn of the conversation, and the reply to it."""

    item: JudgeItem
    reply: str


@dataclass(frozen=True, slots=True)
class Wording:
    """What a judge is told. ``system`` is empty for no such message. ``user`` is the template of each question, with
    ``$question``, ``$gold_answer`` and ``$prediction``; None hands the three over as one JSON object."""

    version: str
    system: str
    user: str | None
    examples: tuple[Example, ...]


def judge_messages(item: JudgeItem) -> list[Message]:
    """Return the chat messages that ask for a verdict on one prediction.

    Raises ``InputError`` where the user's file of wording cannot be used.
    """
    wording = judge_wording()
    messages = [{"role": "system", "content": wording.system}] if wording.system else []
    for example in wording.examples:
        messages += [
            {"role": "user", "content": _asked(example.item, wording)},
            {"role": "assistant", "content": example.reply},
        ]
    return [*messages, {"role": "user", "content": _asked(item, wording)}]


def prompt_fingerprint() -> str:
    """Return the wording's version and a digest of its very characters; part of every verdict's key."""
    messages = judge_messages(JudgeItem("", "<question>", "<gold>", "<prediction>"))
    return f"{judge_wording().version}-{hashlib.sha256(json.dumps(messages).encode()).hexdigest()[:12]}"


def judge_wording(environ: Mapping[str, str] = os.environ) -> Wording:
    """Return the user's wording (``EGOBENCH_JUDGE_PROMPT`` names a TOML file), else ours.

    What the file leaves out is ours, and a notice says so. Raises ``InputError`` for a file that cannot be used.
    """
    named = environ.get(PROMPT_VARIABLE)
    return _load(Path(named) if named else _WORDING_FILE)


@cache
def _load(path: Path) -> Wording:
    values = _read(path)
    if path == _WORDING_FILE:
        return _wording_of({**values, "system": values["system"].strip()}, str(path))
    if unknown := sorted(values.keys() - _KEYS):
        raise InputError(f"{path}: unknown {', '.join(unknown)}; known are {', '.join(sorted(_KEYS))}")
    if not isinstance(values.get("version"), str):
        raise InputError(f"{path}: needs a version, which stands beside every score")
    if left_out := sorted(_KEYS - values.keys()):
        logger.warning(f"{path} leaves out {', '.join(left_out)}: there the judge's wording is egobench's own")
    ours = _read(_WORDING_FILE)
    return _wording_of({**ours, "system": ours["system"].strip(), **values}, str(path))


def _read(path: Path) -> dict[str, Any]:
    return read_toml(path, "the judge's wording")


def _wording_of(values: Mapping[str, Any], where: str) -> Wording:
    system, user, examples = values["system"], values.get("user"), values["examples"]
    if not isinstance(system, str) or not isinstance(user, str | None) or not isinstance(examples, list):
        raise InputError(f"{where}: system and user must be text, examples a list of tables")
    if user is not None:
        _check_user(user, where)
    return Wording(values["version"], system, user, tuple(_example(example, where) for example in examples))


def _check_user(template: str, where: str) -> None:
    parsed = string.Template(template)
    if not parsed.is_valid() or set(parsed.get_identifiers()) != _PLACEHOLDERS:
        names = ", ".join(f"${name}" for name in sorted(_PLACEHOLDERS))
        raise InputError(f"{where}: user must hold {names} and no other placeholder; write $$ for the sign itself")


def _example(values: Any, where: str) -> Example:
    """``reply`` is the whole reply; without it, it is our form of ``pred``, ``score`` and ``reason``."""
    try:
        item = JudgeItem("", values["question"], values["gold"], values["prediction"])
        reply = values.get("reply") or json.dumps({key: values[key] for key in ("pred", "score", "reason")})
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{where}: an example needs question, gold, prediction and a reply ({error})") from error
    return Example(item, reply)


def _asked(item: JudgeItem, wording: Wording) -> str:
    if wording.user is None:
        return _quoted(item.question, item.gold, item.prediction)
    text = string.Template(wording.user).substitute(
        question=item.question, gold_answer=item.gold, prediction=item.prediction
    )
    return text.encode("utf-8", errors="backslashreplace").decode()  # no request can carry a lone surrogate


# Besides what JSON escapes anyway: brackets, since chat templates mark turns with <|im_end|> or
# [/INST] and a server's tokenizer takes such text for the mark itself; line separators; and lone
# surrogates, which no request can carry.
_UNSAFE = re.compile("[<>\\[\\]｜\u0085\u2028\u2029\ud800-\udfff]")


def _quoted(question: str, gold: str, prediction: str) -> str:
    text = json.dumps({"question": question, "gold_answer": gold, "prediction": prediction}, ensure_ascii=False)
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
