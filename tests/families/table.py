"""Builds families of vision-language models small and random, runs each through the program, and prints a table.

    make families            (an environment of its own, with torchvision)
    make families ONLY="internvl smolvlm"

Ends with exit code 1 where a family's frames are misordered, an answer has no tokens, an error is no message of
ours, or a family that runs is no longer as its recipe says.
"""

import argparse
import contextlib
import dataclasses
import logging
import os
import sys
import tempfile
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import typer
from build import make_processor, make_tokenizer, write_model
from PIL import Image
from recipes import RECIPES, Recipe

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
    parser.add_argument("--questions", type=int, default=2)
    arguments = parser.parse_args()
    logging.disable(logging.WARNING)
    print(
        "| family | runs | order kept | batch 1 = 2 | bf16 checkpoint | input=video | 64 frames, tokens / context | |"
    )
    print("|---|---|---|---|---|---|---|---|", flush=True)
    rows = []
    with tempfile.TemporaryDirectory(prefix="egobench-families-") as folder:
        docs = sample_docs(Path(folder), arguments.questions)
        for name in arguments.only or RECIPES:
            row = look_at(name, RECIPES[name], docs, Path(folder))
            cells = [row.name, row.runs, row.order, row.batch, row.dtype, row.video, row.tokens, row.trouble or row.why]
            print("| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |", flush=True)
            rows.append(row)
    troubled = [row.name for row in rows if row.trouble]
    print(
        f"\n{len(rows)} families, {sum(row.runs == 'yes' for row in rows)} run, {len(troubled)} in trouble: {troubled}"
    )
    return 1 if troubled else 0


def sample_docs(folder: Path, n_questions: int) -> list[Any]:
    """Questions of the rendered sample benchmark, with clips of several frames each."""
    from dataset_scripts.egogears.build import build_egogears
    from dataset_scripts.sample.release import write_sample_release

    os.environ.update(EGOBENCH_CACHE=str(folder / "cache"), EGOGEARS_DATA=str(folder / "egogears"), HF_HUB_OFFLINE="1")
    write_sample_release(folder / "raw", questions=12, seed=1)
    build_egogears(folder / "raw", folder / "egogears")
    from lighteval.tasks.lighteval_task import LightevalTask

    from egobench_tasks.tasks import TASKS_TABLE

    task = LightevalTask(next(task for task in TASKS_TABLE if task.name == "egogears:multi"))
    LightevalTask.load_datasets({task.name: task})
    docs = [doc for doc in task.get_docs() if doc.specific["n_clips"] > 1][:n_questions]
    for doc in docs:
        doc.generation_size = 6
    return docs


def look_at(name: str, recipe: Recipe, docs: Sequence[Any], folder: Path) -> Row:
    """Build one family and see what becomes of it."""
    row = Row(name)
    try:
        model = write_model(recipe, folder / name / "fp32")
        half = write_model(recipe, folder / name / "bf16", dtype=torch.bfloat16)
    except Exception as error:
        return dataclasses.replace(row, trouble=f"not built: {type(error).__name__}: {error}")
    with fresh_journal(folder):
        seen = attempt(lambda: run(recipe, model, docs, batch_size=1))
    if isinstance(seen, str):
        expected = recipe.answer == "refused" and not seen.startswith("TRACEBACK")
        return dataclasses.replace(row, runs="refused", why=seen, trouble="" if expected else f"refused: {seen}")
    row = dataclasses.replace(row, runs="yes", trouble="" if recipe.answer == "runs" else "was not refused")
    vlm, alone = seen
    order = attempt(lambda: order_fault(vlm, docs[0]))
    with fresh_journal(folder):
        together = attempt(lambda: run(recipe, model, docs, batch_size=len(docs))[1])
    with fresh_journal(folder):
        default = attempt(lambda: run(recipe, half, docs[:1], batch_size=1)[1])
    video = "no such part"
    if recipe.video_processor:
        with fresh_journal(folder):
            got = attempt(lambda: run(recipe, model, docs[:1], batch_size=1, arguments="input=video")[1])
        video = got if isinstance(got, str) else "yes"
    row = dataclasses.replace(
        row,
        order="yes" if order is None else str(order),
        batch="yes" if together == alone else f"no: {together if isinstance(together, str) else 'answers differ'}",
        dtype="yes" if not isinstance(default, str) else default,
        video=video,
        tokens=str(attempt(lambda: real_tokens(recipe))),
    )
    bad = [value for value in (row.order, row.batch, row.dtype) if value != "yes"]
    bad += [row.video] if "TRACEBACK" in row.video else []
    return dataclasses.replace(row, trouble="; ".join([*filter(None, [row.trouble]), *bad]))


def run(recipe: Recipe, model: Path, docs: Sequence[Any], batch_size: int, arguments: str = "") -> Any:
    """Ask the documents as a run would; return the model and the answers' tokens."""
    from egobench_tasks.hosts.lighteval.vision.settings import read_settings
    from egobench_tasks.hosts.lighteval.vlm import FrameVLM

    given = ",".join(filter(None, [f"model_name={model},batch_size={batch_size}", recipe.arguments, arguments]))
    vlm = FrameVLM(read_settings(f"{given},cache_dir={model.parent / 'lighteval'},generation_size=3"))
    made: list[list[int]] = []
    stock = vlm._vision.new_tokens

    def new_tokens(*args: Any, **kwargs: Any) -> torch.Tensor:
        tokens = stock(*args, **kwargs)
        made.extend(tokens.tolist())
        return tokens

    vlm._vision.new_tokens = new_tokens
    responses = vlm.greedy_until(list(docs))
    if len(made) < len(docs) or not all(made):
        raise AssertionError("an answer without a token")
    return vlm, [response.text for response in responses]


def order_fault(vlm: Any, doc: Any) -> str | None:
    """Read the inputs' tokens as text: every label before its clip's frames, as many as it has, and in order."""
    from egobench_tasks.hosts.lighteval.vision.prepare import prepare
    from egobench_tasks.hosts.lighteval.vlm import _question

    inputs = prepare(vlm._vision.maker, [_question(doc)]).inputs
    text = vlm.processor.tokenizer.decode(inputs["input_ids"][0], skip_special_tokens=False)
    segments = doc.specific["segments"]
    labels = [segment["text"].strip() for segment in segments if segment["text"]]
    place, places = 0, []
    for label in labels:
        place = text.find(label, place)
        if place < 0:
            return f"{label[:30]!r} is not where it was in the message"
        places.append(place)
        place += len(label)
    frames = [request.spec.count for request in doc.images.requests]
    pieces = [
        text[begin + len(label) : end]
        for begin, label, end in zip(places, labels, [*places[1:], len(text)], strict=True)
    ]
    lengths = [len(piece) for piece in pieces[-len(frames) :]]
    # A clip with more frames takes more of the prompt: the marks stand with their clip, not in one heap.
    expected = sorted(range(len(frames)), key=lambda clip: (frames[clip], clip))
    if len({*frames}) == len(frames) and sorted(range(len(frames)), key=lambda clip: lengths[clip]) != expected:
        return f"clips of {frames} frames take {lengths} characters"
    return None if min(lengths) > 8 else f"a clip without frames: {lengths}"


def real_tokens(recipe: Recipe) -> str:
    """What 64 frames cost with the published processor, as the program would call it, and what the context is."""
    from transformers import CONFIG_MAPPING

    from egobench_tasks.hosts.lighteval.vision.fitting import family_defaults, processor_options
    from egobench_tasks.hosts.lighteval.vision.inputs import InputMaker, Message
    from egobench_tasks.hosts.lighteval.vision.prompt import Visual, prompt_form
    from egobench_tasks.hosts.lighteval.vision.settings import IN_ORDER, FrameVLMConfig

    processor = make_processor(recipe, make_tokenizer(recipe), real=True)
    settings = FrameVLMConfig(model_name="-")
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
    config = CONFIG_MAPPING[recipe.model_type]()
    default = getattr(config.get_text_config(), "max_position_embeddings", None)
    context = recipe.context_tokens or default
    note = "" if recipe.context_tokens in (None, default) else f" (class: {default:,})"
    split = "" if counts[0] == counts[1] else f" (processor's own: {counts[0]:,})"
    fits = "" if counts[1] < context else ", too long"
    return f"{counts[1]:,}{split} / {context:,}{note}{fits}"


def attempt(action: Any) -> Any:
    """The action's result, or its message; what is no message of ours is marked as a traceback."""
    from egobench_tasks.errors import EgobenchError

    try:
        return action()
    except EgobenchError as error:
        return str(error)
    except typer.BadParameter as error:
        return error.message
    except Exception as error:
        if os.environ.get("TRACE"):
            traceback.print_exc()
        last = traceback.extract_tb(error.__traceback__)[-1]
        return f"TRACEBACK {type(error).__name__}: {str(error)[:160]} ({Path(last.filename).name}:{last.lineno})"


@contextlib.contextmanager
def fresh_journal(folder: Path) -> Iterator[None]:
    """No answers of another run."""
    with tempfile.TemporaryDirectory(dir=folder) as journal:
        os.environ["EGOBENCH_JOURNAL"] = journal
        yield


if __name__ == "__main__":
    sys.exit(main())
