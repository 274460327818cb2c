"""EgoTempo's input settings by name: what a model sees of the clip (PROTOCOL 2); and how its tasks are named."""

from collections.abc import Mapping
from dataclasses import replace

from egobench_tasks.frames.spec import FrameSpec, Jpeg, Sampling

DEFAULT_SETTING = "fps1"
TEXT_ONLY = "text"
UNIFORM_COUNTS = (4, 8, 16, 32, 64)
RATES_FPS = (0.1, 0.5, 1.0, 1.5)
MAX_SHORT_SIDE_PX = 540
"""As in Ego4D's ``video_540ss``, which the authors' notebook takes unscaled."""
SEED = 0
"""Of the random and shuffled settings: the same frames in the same order for every model."""


def category_slug(category: str) -> str:
    """A category as part of a task's name: ``counting_actions``."""
    return category.replace(" ", "_").replace("-", "_")


def open_settings() -> Mapping[str, FrameSpec | None]:
    """Return ``{name: what is taken of the clip}``; None for the words alone.

    ``center`` is one frame, ``f8`` eight evenly spaced ones, ``fps0.5`` half as many as the clip has seconds, spaced
    in the same way; ``_random`` draws as many at random and keeps their order, ``_shuffled`` shows the same ones in
    random order.
    """
    central = FrameSpec(sampling=Sampling.CENTRAL, max_short_side_px=MAX_SHORT_SIDE_PX, jpeg=Jpeg.LIBJPEG_95)
    settings: dict[str, FrameSpec | None] = {TEXT_ONLY: None, "center": central}
    for count in UNIFORM_COUNTS:
        settings |= _with_variants(f"f{count}", replace(central, sampling=Sampling.UNIFORM, count=count))
    for rate_fps in RATES_FPS:
        settings |= _with_variants(f"fps{rate_fps:g}", replace(central, sampling=Sampling.RATE, rate_fps=rate_fps))
    return settings


def _with_variants(name: str, spec: FrameSpec) -> dict[str, FrameSpec | None]:
    return {
        name: spec,
        f"{name}_random": replace(spec, sampling=Sampling.RANDOM, seed=SEED),
        f"{name}_shuffled": replace(spec, shuffled=True, seed=SEED),
    }
