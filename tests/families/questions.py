"""Questions with frames of noise, and a model's answers to them."""

import io

import numpy as np
import torch
from PIL import Image

from egobench_tasks.asking.prompts import ClipFrames, Text
from egobench_tasks.frames.lazy import FrameList, FrameRequest
from egobench_tasks.frames.spec import FrameSpec, Sampling
from egobench_tasks.frames.store import StoredClip
from egobench_tasks.hosts.lighteval.vision.model import VisionModel
from egobench_tasks.hosts.lighteval.vision.prepare import Question, prepare
from egobench_tasks.hosts.lighteval.vision.settings import read_settings


class MemoryStore:
    """Frames of noise, other ones for every clip."""

    def __init__(self, size_px):
        self.size_px = size_px

    def get(self, path, sha256, spec):
        random = np.random.default_rng(int(sha256, 16))
        return StoredClip(
            tuple(jpeg(random, self.size_px) for _ in range(spec.count)),
            tuple(map(float, range(spec.count))),
            spec.count,
            None,
            "-",
        )


def jpeg(random, size_px):
    file = io.BytesIO()
    Image.fromarray(random.integers(0, 256, (size_px[1], size_px[0], 3), np.uint8)).save(file, "JPEG")
    return file.getvalue()


def question(n_frames=(3, 1), n_words=3, size_px=(96, 54)):
    """A question about as many clips as there are numbers of frames."""
    spec = [FrameSpec(sampling=Sampling.BUDGET, count=count) for count in n_frames]
    requests = [FrameRequest("-", f"{number:064x}", one) for number, one in enumerate(spec)]
    segments = [Text("Which one?" + " word" * n_words + "\n")]
    for clip in range(len(n_frames)):
        segments += [Text(f"CLIP_{clip}\n"), ClipFrames(clip)]
    return Question("q", tuple(segments), FrameList(requests, MemoryStore(size_px)))


def vision(folder, arguments=""):
    """The model in a folder, as a run would make it."""
    settings = read_settings(",".join(filter(None, [f"model_name={folder}", arguments])))
    return VisionModel(settings, {}, torch.device("cpu"))


def answer(model, questions, budget_tokens=4):
    """The new tokens of some questions asked together."""
    prepared = prepare(model.maker, questions)
    with torch.inference_mode():
        return model.new_tokens(prepared.inputs, budget_tokens, do_sample=False, eos_token_id=[-1]).tolist()
