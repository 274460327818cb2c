"""The words in which a model is asked for captions and questions: a file of ours, or a user's in its place."""

import string
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from egobench_tasks.documents import read_toml
from egobench_tasks.errors import InputError
from egobench_tasks.making.draft.candidate import CHOICE_KINDS, OPEN_KINDS

OWN_FILE = Path(__file__).parents[2] / "templates" / "draft.toml"
_TEXTS = ("caption", "narrated", "questions", "one", "several", "open_example", "choice_example")
_RETRY = "\nAn earlier reply could not be used: $reason. Keep to the form.\n"


@dataclass(frozen=True, slots=True)
class Wording:
    """What `templates/draft.toml` holds: texts with placeholders, and a sentence for each kind of question."""

    version: str
    texts: Mapping[str, str]
    kinds: Mapping[str, str]

    def caption(self, duration_s: float, narrations: str, reason: str | None) -> str:
        """Return what asks for a description of a clip. ``reason``: why an earlier reply was of no use, if any was."""
        told = self._fill("narrated", lines=narrations).strip() if narrations else ""
        return self._fill("caption", duration=f"{duration_s:.1f}", narrations=told).strip() + _again(reason)

    def questions(self, kind: str, n_questions: int, duration_s: float, caption: str, reason: str | None) -> str:
        """Return what asks for ``n_questions`` of a kind, about a clip that was described by ``caption``."""
        number = self.texts["one"] if n_questions == 1 else self._fill("several", n=str(n_questions))
        example = self.texts["open_example" if kind in OPEN_KINDS else "choice_example"]
        return self._fill(
            "questions",
            duration=f"{duration_s:.1f}",
            caption=caption,
            n_questions=number,
            kind=self.kinds[kind],
            example=example,
        ).strip() + _again(reason)

    def _fill(self, name: str, **values: str) -> str:
        return string.Template(self.texts[name]).substitute(values)


def read_wording(path: Path = OWN_FILE) -> Wording:
    """Read a file of wording. Raises ``InputError`` naming what it lacks, or a placeholder that nothing fills."""
    content = read_toml(path, "the wording of drafts")
    kinds = content["kinds"] if isinstance(content.get("kinds"), dict) else {}
    texts = {name: content.get(name) for name in ("version", *_TEXTS)}
    texts |= {f"kinds.{kind}": kinds.get(kind) for kind in (*OPEN_KINDS, *CHOICE_KINDS)}
    if lacking := [name for name, text in texts.items() if not isinstance(text, str) or not text.strip()]:
        raise InputError(f"{path}: lacks {', '.join(lacking)}; {OWN_FILE} has them all")
    wording = Wording(
        content["version"], {name: content[name] for name in _TEXTS}, {kind: kinds[kind] for kind in kinds}
    )
    try:
        wording.caption(1.0, "-", None)
        wording.questions(CHOICE_KINDS[0], 2, 1.0, "-", None)
    except (KeyError, ValueError) as error:
        raise InputError(f"{path}: a placeholder that nothing fills, or a lone $ (write $$): {error}") from error
    return wording


def _again(reason: str | None) -> str:
    return "\n" if reason is None else "\n" + string.Template(_RETRY).substitute(reason=reason)
