"""What an audit's page tells of models: accuracy by what was shown, and question by question what each of them said."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from egobench_tasks.making.audit.asked import AskedAll, Reply, SeenOption
from egobench_tasks.making.audit.models import frame_to_video, usual_answer, view_figures
from egobench_tasks.making.audit.question import AuditedQuestion, letter_of
from egobench_tasks.making.audit.views import View
from egobench_tasks.making.seen import Seen
from egobench_tasks.report.analyse.tables import Column, Kind, Table, table


def views(said: AskedAll) -> Table:
    """How often each model is right by what it is shown, against chance, and its ratio of all frames to one."""
    figures = view_figures(said)
    ratios: Mapping[str, float] = frame_to_video(figures)
    rows = [
        {
            "model": figure.model,
            "view": figure.view.value.replace("_", " "),
            "accuracy": figure.accuracy,
            "low": figure.low,
            "high": figure.high,
            "chance": figure.chance,
            "replies": figure.total,
            "ratio": ratios.get(figure.model, math.nan) if figure.view.value == "full" else math.nan,
        }
        for figure in figures
    ]
    note = (
        "Words: no frame. Options: no frame and no question. One frame: the central one of each clip. Ratio: all "
        "frames against one (EgoTempo, table 1). Repeats of one question count as replies of their own: intervals are "
        "too narrow where a model repeats itself."
    )
    columns = (
        Column("model", "Model", Kind.TEXT),
        Column("view", "Shown", Kind.TEXT),
        Column("accuracy", "Right", Kind.PERCENT, low="low", high="high"),
        Column("chance", "By chance", Kind.PERCENT),
        Column("replies", "Replies", Kind.COUNT),
        Column("ratio", "Frame → video", Kind.RATIO, 2),
    )
    return table("views", "Accuracy by what is shown", note, columns, rows)


def by_how_many(said: AskedAll) -> Table:
    """How many questions all models answer right on all frames, some do, none does; of those all models answered."""
    full = _grouped(reply for reply in said.replies if reply.view is View.FULL and reply.right is not None)
    models = {reply.model for reply in said.replies}
    able: dict[str, dict[str, bool]] = defaultdict(dict)
    for (question_id, model), replies in full.items():
        able[question_id][model] = all(reply.right for reply in replies)
    whole = {question_id: own for question_id, own in able.items() if set(own) == models}
    names = {len(models): "every model", 0: "no model"}
    counts = Counter(names.get(sum(own.values()), "some models") for own in whole.values())
    rows = [
        {"who": who, "questions": counts[who], "share": counts[who] / len(whole)}
        for who in ("every model", "some models", "no model")
        if counts[who]
    ]
    columns = (
        Column("who", "Right each time", Kind.TEXT),
        Column("questions", "Questions", Kind.COUNT),
        Column("share", "Of all", Kind.PERCENT),
    )
    note = "On all frames, of the questions that all models answered. Where none is right, the gold may be wrong."
    return table("by_how_many", "By how many models", note, columns, rows)


def replies_table(questions: Sequence[AuditedQuestion], said: AskedAll) -> Table:
    """Every question and model: how often it was right in each view, and what it mostly says on all frames."""
    groups = _grouped(said.replies)
    models = sorted({reply.model for reply in said.replies})
    rows = [
        _replies_row(question, model, own)
        for question in questions
        for model in models
        if (own := groups.get((question.question_id, model)))
    ]
    shown = [view for view in View if any(reply.view is view for reply in said.replies)]
    columns = (
        Column("question_id", "Question", Kind.QUESTION),
        Column("model", "Model", Kind.TEXT),
        *(Column(f"{view}", view.value.replace("_", " ").capitalize(), Kind.TEXT) for view in shown),
        Column("says", "Mostly says", Kind.TEXT),
        Column("gold", "Gold", Kind.TEXT),
    )
    note = "Right replies of those asked and judged, by what was shown; and the commonest answer on all frames."
    return table("replies", "Question by question", note, columns, rows)


def options_table(questions: Sequence[AuditedQuestion], said: AskedAll) -> Table:
    """Every option as models saw it in the clips alone; ``unreadable`` counts replies that are no verdict."""
    seen: dict[tuple[str, int], list[SeenOption]] = defaultdict(list)
    for one in said.seen:
        seen[one.question_id, one.option].append(one)
    rows = [
        {
            "question_id": question.question_id,
            "option": f"{letter_of(index)}. {text}",
            "is_right": "right" if index in question.right else "wrong",
            **{one.name.lower(): _who(own, one) for one in Seen},
            "unreadable": _who(own, None),
        }
        for question in questions
        for index, text in enumerate(question.options)
        if (own := seen.get((question.question_id, index)))
    ]
    columns = (
        Column("question_id", "Question", Kind.QUESTION),
        Column("option", "Option", Kind.TEXT),
        Column("is_right", "By the gold", Kind.TEXT),
        *(Column(one.name.lower(), one.value.capitalize(), Kind.TEXT) for one in Seen),
        Column("unreadable", "No verdict", Kind.TEXT),
    )
    note = "Each option put to the clips alone, without the other options; the models that saw it so."
    return table("options", "Option by option", note, columns, rows)


def _replies_row(question: AuditedQuestion, model: str, replies: Sequence[Reply]) -> dict[str, Any]:
    row: dict[str, Any] = {"question_id": question.question_id, "model": model}
    for view in View:
        judged = [reply for reply in replies if reply.view is view and reply.right is not None]
        right = sum(bool(reply.right) for reply in judged)
        row |= {f"{view}": f"{right} of {len(judged)}" if judged else ""}
        row |= {f"{view}_right": right, f"{view}_judged": len(judged)}
    full = [reply for reply in replies if reply.view is View.FULL]
    return {**row, "says": usual_answer(full) if full else "", "gold": question.gold}


def _grouped(replies: Iterable[Reply]) -> dict[tuple[str, str], list[Reply]]:
    groups: dict[tuple[str, str], list[Reply]] = defaultdict(list)
    for reply in replies:
        groups[reply.question_id, reply.model].append(reply)
    return groups


def _who(seen: Sequence[SeenOption], verdict: Seen | None) -> str:
    return ", ".join(one.model for one in seen if one.seen is verdict)
