"""A long video whose pictures carry their numbers, and a folder in which it stands in for Ego4D videos."""

import json
from dataclasses import dataclass
from pathlib import Path

import av
import numpy as np
import pytest

FPS, SECONDS = 10, 20
WIDTH_PX, HEIGHT_PX = 128, 642


@pytest.fixture(scope="session")
def numbered_video(tmp_path_factory) -> Path:
    """20 s at 10 frames a second, with sound and B-frames; eight upright stripes show the frame's number in bits."""
    path = tmp_path_factory.mktemp("numbered") / "video.mp4"
    with av.open(str(path), "w") as container:
        video = container.add_stream("libx264", rate=FPS, options={"preset": "veryfast", "g": "40", "bf": "3"})
        video.width, video.height, video.pix_fmt = WIDTH_PX, HEIGHT_PX, "yuv420p"
        audio = container.add_stream("aac", rate=8000, layout="mono")
        for number in range(FPS * SECONDS):
            container.mux(video.encode(av.VideoFrame.from_ndarray(_picture(number), format="rgb24")))
            hum = np.sin(np.arange(800) / 5).astype(np.float32)[None] / 4
            sound = av.AudioFrame.from_ndarray(hum, format="fltp", layout="mono")
            sound.sample_rate = 8000
            container.mux(audio.encode(sound))
        container.mux(video.encode())
        container.mux(audio.encode())
    return path


def _picture(number: int) -> np.ndarray:
    picture = np.zeros((HEIGHT_PX, WIDTH_PX, 3), np.uint8)
    for place, stripe in enumerate(np.array_split(np.arange(WIDTH_PX), 8)):
        picture[:, stripe] = (230, 200, 160) if number >> place & 1 else (20, 40, 60)
    return picture


@dataclass(frozen=True)
class Release:
    """Annotations about windows of Ego4D videos, and the folder where those videos lie."""

    annotations: Path
    videos: Path
    out: Path

    def ask(self, *clip_ids: str) -> None:
        """Write one question a clip id, the categories in turn."""
        categories = ("locating object", "counting actions")
        rows = [
            {
                "question_id": f"{clip_id}_{index}",
                "clip_id": clip_id,
                "question_type": categories[index % 2],
                "question": f"Question {index}?",
                "answer": f"Answer {index}.",
            }
            for index, clip_id in enumerate(clip_ids)
        ]
        self.annotations.write_text(json.dumps({"info": {}, "annotations": rows}))

    def add(self, name: str, video: Path) -> Path:
        """Let a video stand in for ``<name>.mp4``."""
        self.videos.mkdir(exist_ok=True)
        path = self.videos / f"{name}.mp4"
        path.write_bytes(video.read_bytes())
        return path


@pytest.fixture
def release(tmp_path) -> Release:
    return Release(tmp_path / "annotations.json", tmp_path / "videos", tmp_path / "egotempo")
