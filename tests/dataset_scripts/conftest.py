"""Clips and raw releases in upstream's layout, small and made on the spot."""

from collections.abc import Callable
from pathlib import Path

import av
import numpy as np
import pytest

MakeClip = Callable[..., Path]


def write_clip(
    path: Path, duration_s: float, *, seed: int = 0, fps: int = 2, width_px: int = 32, height_px: int = 32
) -> Path:
    """Write a tiny H.264 clip whose pixels, and so whose hash, follow from ``seed``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    noise = np.random.default_rng(seed)
    with av.open(str(path), "w", format="mp4", options={"movflags": "+faststart", "fflags": "+bitexact"}) as container:
        stream = container.add_stream("libx264", rate=fps, options={"preset": "ultrafast", "threads": "1"})
        stream.width, stream.height, stream.pix_fmt = width_px, height_px, "yuv420p"
        for _ in range(round(duration_s * fps)):
            pixels = noise.integers(0, 256, (height_px, width_px, 3), dtype=np.uint8)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24")))
        container.mux(stream.encode())
    return path


@pytest.fixture(scope="session")
def make_clip() -> MakeClip:
    """A factory: ``make_clip(path, duration_s, seed=…)`` writes a clip and returns its path."""
    return write_clip
