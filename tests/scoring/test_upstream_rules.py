"""Upstream's rules played a second time, from PROTOCOL 1.3 and 1.4 alone and by other means.

Nothing here calls the code under test but for the comparison. Slow on long texts, and plain.
"""

import json
import random
import re

from egobench_tasks.scoring.choice import score_text

N_REPLIES = 5_000
NORMAL = {"stop", "eos", "eos_token", "end_turn", "STOP", "stop_sequence", "completed", ""}
MARKS = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<reasoning>", "</reasoning>"),
    ("<seed:think>", "</seed:think>"),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
    ("<|channel>thought", "<channel|>"),
]


def answer_text(raw, opening, closing):
    """Rule 1, for texts with marks of one kind: blanks inside a mark and its case are nothing."""

    def pattern(mark):
        return re.compile("".join(rf"\s*{re.escape(char)}" for char in mark).removeprefix(r"\s*"), re.IGNORECASE)

    after_last = [match.end() for match in pattern(closing).finditer(raw)]
    if after_last:
        return raw[after_last[-1] :]
    return None if pattern(opening).search(raw) else raw


def last_object(text):
    """Rule 2."""
    found = None
    for index, char in enumerate(text):
        if char == "{":
            try:
                value, _ = json.JSONDecoder().raw_decode(text[index:])
            except ValueError:
                continue
            if "answer" in value:
                found = value
    return found


def letter_of(item):
    """Rule 3, character by character."""
    if not isinstance(item, str):
        return None
    rest = item.strip()
    if rest[:6].lower() == "option" and rest[6:7].isspace():
        rest = rest[6:].lstrip()
    rest = rest[1:] if rest[:1] in ("(", "[") else rest
    letter, rest = rest[:1], rest[1:]
    rest = rest[1:] if rest[:1] in (")", "]") else rest
    rest = rest[1:] if rest[:1] in (".", ")", ":") else rest
    return letter.upper() if not rest and letter in "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" else None


def read(raw, letters, finish_reason, marks):
    """Rules 1 to 5: a set of letters, or None."""
    text = answer_text(raw, *marks) if finish_reason in NORMAL else None
    declared = None if text is None else last_object(text)
    if declared is None or not isinstance(declared["answer"], list | str):
        return None
    answer = declared["answer"]
    items = answer if isinstance(answer, list) else answer.replace(";", ",").replace("/", ",").split(",")
    chosen = {letter_of(item) or "none" for item in items}
    return chosen if chosen and chosen <= set(letters) else None


def scores(chosen, gold):
    """PROTOCOL 1.4: exact, Jaccard, overlap, wellformed, answered."""
    if chosen is None:
        return (0, 0, 0, 0, 0)
    both = len(chosen & gold)
    return (chosen == gold, both / len(chosen | gold), both / len(gold), len(chosen) == len(gold), 1)


def item(rng, letters):
    letter = rng.choice(letters if rng.random() < 0.97 else "XYZ1é")
    before = rng.choice(["", "", "", "option ", "Option "]) + rng.choice(["", "", "", "(", "["])
    after = rng.choice(["", "", "", ")", "]"]) + rng.choice(["", "", ".", ")", ":"] * 6 + ["!"])
    return rng.choice(["", " "]) + before + (letter.lower() if rng.random() < 0.3 else letter) + after


def declared(rng, letters):
    """A JSON object, mostly with an answer, sometimes broken."""
    items = [item(rng, letters) for _ in range(rng.choice([0, *[1, 2, 3] * 4]))]
    as_text = rng.choice([",", ";", "/", ", "]).join(items)
    value = rng.choice([items] * 12 + [as_text] * 4 + [5, None, [items], {"x": "A"}])
    content = {rng.choice(["answer"] * 19 + ["Answer"]): value}
    if rng.random() < 0.3:
        content["reason"] = rng.choice(["none", '{"answer": ["B"]}', "a } b {", {"answer": ["C"]}, ["x", {}]])
    text = json.dumps(content, ensure_ascii=rng.random() < 0.5)
    if rng.random() < 0.05:
        cut = rng.randrange(len(text))
        text = text[:cut] + rng.choice(["", '"', "}", "{", "\\", ","]) + text[cut + 1 :]
    return rng.choice(["%s", "%s", "%s", "```json\n%s\n```", "[%s]", '{"x": %s}']).replace("%s", text)


def odd(rng, mark):
    """A mark, now and then with blanks in it and in another case."""
    if rng.random() < 0.8:
        return mark
    return "".join(char + rng.choice(["", "", " "]) if char in "<[◁/|:" else char for char in mark).swapcase()


def reply(rng, letters, marks):
    """Objects, marks and prose, one after another."""
    pieces = []
    for _ in range(rng.choice([1, 1, 2, 3, 5])):
        kind = rng.random()
        if kind < 0.65:
            pieces.append(declared(rng, letters))
        elif kind < 0.8:
            pieces.append(odd(rng, rng.choice(marks)))
        else:
            pieces.append(
                rng.choice(["I think B. ", "\n", "{", "}", '"', "it's {A} ", "\ufeff", "answer: A", "😀", "\\"])
            )
    return "".join(pieces)


def test_no_generated_reply_is_read_or_scored_otherwise():
    rng = random.Random(20261130)
    disagreements, n_answered = [], 0
    for _ in range(N_REPLIES):
        letters = "ABCDEFGH"[: rng.randint(3, 8)]
        originals = "".join(rng.sample(letters, len(letters)))
        gold = frozenset(rng.sample(letters, rng.randint(1, 3)))
        marks = MARKS[0] if rng.random() < 0.5 else rng.choice(MARKS)
        finish_reason = rng.choice(sorted(NORMAL) * 6 + ["length", "max_tokens", "content_filter", "error"])
        raw = reply(rng, letters, marks)
        facts = {"shown_letters": letters, "original_letters": originals, "answer": "".join(sorted(gold))}
        ours = score_text(facts, raw, finish_reason).score
        chosen = read(raw, letters, finish_reason, marks)
        mapped = None if chosen is None else {originals[letters.index(letter)] for letter in chosen}
        n_answered += mapped is not None
        theirs = scores(mapped, gold)
        if (ours.exact_set, ours.jaccard, ours.overlap, ours.wellformed, ours.answered) != theirs:
            disagreements.append((raw, finish_reason, chosen, ours))
    assert disagreements == []
    assert N_REPLIES / 3 < n_answered < N_REPLIES * 2 / 3  # else the comparison would show little
