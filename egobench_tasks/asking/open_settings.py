"""EgoTempo's input settings by name: what a model sees of the clip (PROTOCOL 2)."""

from collections.abc import Mapping
from dataclasses import replace

from egobench_tasks.frames.spec import FrameSpec, Sampling

DEFAULT_SETTING = "fps1"
TEXT_ONLY = "text"
UNIFORM_COUNTS = (4, 8, 16, 32, 64)
RATES_FPS = (0.1, 0.5, 1.0, 1.5)
SEED = 0
"""Of the random and shuffled settings: the same frames in the same order for every model."""


def open_settings() -> Mapping[str, FrameSpec | None]:
    """Return ``{name: what is taken of the clip}``; None for the words alone.

    ``center`` is one frame, ``f8`` eight evenly spaced ones, ``fps0.5`` one every two seconds;
    ``_random`` draws as many at random and keeps their order, ``_shuffled`` shows the same ones in
    random order.
    """
    settings: dict[str, FrameSpec | None] = {TEXT_ONLY: None, "center": FrameSpec(sampling=Sampling.CENTRAL)}
    for count in UNIFORM_COUNTS:
        settings |= _with_variants(f"f{count}", FrameSpec(sampling=Sampling.UNIFORM, count=count))
    for rate_fps in RATES_FPS:
        settings |= _with_variants(f"fps{rate_fps:g}", FrameSpec(sampling=Sampling.RATE, rate_fps=rate_fps))
    return settings


def _with_variants(name: str, spec: FrameSpec) -> dict[str, FrameSpec | None]:
    return {
        name: spec,
        f"{name}_random": replace(spec, sampling=Sampling.RANDOM, seed=SEED),
        f"{name}_shuffled": replace(spec, shuffled=True, seed=SEED),
    }
