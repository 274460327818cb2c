"""Builds families of vision-language models small and random, runs each through the program, and prints a table.

    make families            (an environment of its own, with torchvision)
    make families ONLY="internvl smolvlm"

Ends with exit code 1 where a family's frames are misordered, an answer has no tokens, an error is no message of
ours, or a family that runs is no longer as its recipe says.
"""

import argparse
import dataclasses
import logging
import os
import sys
import tempfile
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import transformers
from build import make_processor, make_tokenizer, write_model
from PIL import Image
from questions import answer, question, vision
from recipes import RECIPES, Recipe

from egobench_tasks.errors import EgobenchError
from egobench_tasks.hosts.lighteval.vision.fitting import family_defaults, processor_options
from egobench_tasks.hosts.lighteval.vision.inputs import InputMaker, Message
from egobench_tasks.hosts.lighteval.vision.prepare import prepare
from egobench_tasks.hosts.lighteval.vision.prompt import Visual, prompt_form
from egobench_tasks.hosts.lighteval.vision.settings import IN_ORDER, FrameVLMConfig

N_FRAMES, FRAME_PX = 64, (480, 270)


@dataclass(frozen=True, slots=True)
class Row:
    """What was seen of one family. ``trouble``: what must not be, empty where all is as it should."""

    name: str
    runs: str = "-"
    order: str = "-"
    batch: str = "-"
    dtype: str = "-"
    video: str = "-"
    tokens: str = "-"
    why: str = ""
    trouble: str = ""


def main() -> int:
    """Print the table; 1 where anything is not as it must be."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("only", nargs="*", metavar="FAMILY", help="all where none is named")
    arguments = parser.parse_args()
    logging.disable(logging.WARNING)
    transformers.utils.logging.disable_progress_bar()
    print(
        "| family | runs | order kept | batch 1 = 2 | bf16 checkpoint | input=video | 64 frames, tokens / context | |"
    )
    print("|---|---|---|---|---|---|---|---|", flush=True)
    rows = []
    with tempfile.TemporaryDirectory(prefix="egobench-families-") as folder:
        for place, name in enumerate(arguments.only or RECIPES):
            row = look_at(name, RECIPES[name], Path(folder) / str(place))
            cells = [row.name, row.runs, row.order, row.batch, row.dtype, row.video, row.tokens, row.trouble or row.why]
            print("| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |", flush=True)
            rows.append(row)
    troubled = [row.name for row in rows if row.trouble]
    print(
        f"\n{len(rows)} families, {sum(row.runs == 'yes' for row in rows)} run, {len(troubled)} in trouble: {troubled}"
    )
    return 1 if troubled else 0


def look_at(name: str, recipe: Recipe, folder: Path) -> Row:
    """Build one family and see what becomes of it."""
    row = Row(name)
    try:
        model = write_model(recipe, folder / "fp32")
        half = write_model(recipe, folder / "bf16", dtype=torch.bfloat16)
    except Exception as error:
        return dataclasses.replace(row, trouble=f"not built: {type(error).__name__}: {error}")
    questions = [question((40, 24), size_px=FRAME_PX), question((44, 20), n_words=60, size_px=FRAME_PX)]
    seen = attempt(lambda: vision(model, recipe.arguments))
    alone = seen if isinstance(seen, str) else attempt(lambda: [answer(seen, [one])[0] for one in questions])
    if isinstance(alone, str):
        expected = recipe.answer == "refused" and not alone.startswith("TRACEBACK")
        return dataclasses.replace(row, runs="refused", why=alone, trouble="" if expected else f"refused: {alone}")
    together = attempt(lambda: answer(seen, questions))
    default = attempt(lambda: answer(vision(half, recipe.arguments), questions[:1]))
    video = "no such part"
    if recipe.video_processor:
        arguments = ",".join(filter(None, [recipe.arguments, "input=video"]))
        even = question((32, 32), size_px=FRAME_PX)
        for asked, says in ((questions[0], "yes"), (even, "clips of one length")):
            got = attempt(lambda asked=asked: answer(vision(model, arguments), [asked]))
            video = got if isinstance(got, str) else says
            if video == says:
                break
    row = dataclasses.replace(
        row,
        runs="yes",
        order=attempt(lambda: order_fault(seen, questions[0])) or "yes",
        batch="yes" if together == alone else f"no: {together if isinstance(together, str) else 'answers differ'}",
        dtype=default if isinstance(default, str) else "yes",
        video=video,
        tokens=str(attempt(lambda: real_tokens(recipe))),
    )
    bad = [value for value in (row.order, row.batch, row.dtype) if value != "yes"]
    bad += [value for value in (row.video, row.tokens) if "TRACEBACK" in value]
    bad += ["was not refused"] if recipe.answer == "refused" else []
    return dataclasses.replace(row, trouble="; ".join(bad))


def order_fault(model: Any, asked: Any) -> str | None:
    """Read the inputs' tokens as text: each label must stand before its clip's frames, and they in their number."""
    inputs = prepare(model.maker, [asked]).inputs
    tokenizer = model.processor.tokenizer
    text = tokenizer.decode(inputs["input_ids"][0], skip_special_tokens=False)
    head, found, rest = text.partition("CLIP_0")
    between, also_found, tail = rest.partition("CLIP_1")
    if not found or not also_found:
        return "a label is missing"
    special = [token.content for token in tokenizer.added_tokens_decoder.values()]
    token = max(special, key=between.count)
    counts = head.count(token), between.count(token), tail.count(token)
    n_first, n_second = (request.spec.count for request in asked.frames.requests)
    if counts[0] or not counts[2] or counts[1] * n_second != counts[2] * n_first:
        return f"{n_first} and {n_second} frames, but {counts} of {token} before, between and after the labels"
    return None


def real_tokens(recipe: Recipe) -> str:
    """What 64 frames cost with the published processor, as the program would call it, and what the context is."""
    processor = make_processor(recipe, make_tokenizer(recipe), real=True)
    settings = FrameVLMConfig(model_name="x")
    form = prompt_form(
        processor, Visual.IMAGE, template=processor.chat_template, in_order=IN_ORDER in recipe.arguments,
        variables={}, system=None,
    )  # fmt: skip
    counts = []
    for defaults in ({}, family_defaults(recipe.model_type, settings, processor)):
        maker = InputMaker(
            processor, form, Visual.IMAGE, processor_options(settings, defaults), True, None, 10**9, False
        )
        per = []
        for n in (2, 4):  # some processors cut a single picture otherwise than one of several
            image = Image.new("RGB", FRAME_PX, (90, 120, 60))
            _, inputs = maker.process([Message(("Q", *[Visual.IMAGE] * n, "E"), (image,) * n)])
            per.append(int(inputs["attention_mask"].sum()))
        counts.append((per[1] - per[0]) // 2 * N_FRAMES)
    config = transformers.CONFIG_MAPPING[recipe.model_type]()
    default = getattr(config.get_text_config(), "max_position_embeddings", None)
    context = recipe.context_tokens or default
    note = "" if recipe.context_tokens in (None, default) else f" (class: {default:,})"
    split = "" if counts[0] == counts[1] else f" (processor's own: {counts[0]:,})"
    fits = "" if counts[1] < context else ", too long"
    return f"{counts[1]:,}{split} / {context:,}{note}{fits}"


def attempt(action: Any) -> Any:
    """The action's result, or its message; what is no message of ours is marked as a traceback."""
    try:
        return action()
    except EgobenchError as error:
        return str(error)
    except Exception as error:
        if os.environ.get("TRACE"):
            traceback.print_exc()
        last = traceback.extract_tb(error.__traceback__)[-1]
        return f"TRACEBACK {type(error).__name__}: {str(error)[:160]} ({Path(last.filename).name}:{last.lineno})"


if __name__ == "__main__":
    sys.exit(main())
