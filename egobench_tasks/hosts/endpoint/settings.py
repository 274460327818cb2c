"""Which endpoint to ask for a model's answers, and how its pictures are sent, from a YAML file."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from egobench_tasks.benchmarks import EGOGEARS
from egobench_tasks.errors import InputError
from egobench_tasks.servers.reading import file_values
from egobench_tasks.servers.settings import ServerSettings, Thinking

_MAX_JPEG_QUALITY = 95  # Pillow's own advice: above it files grow and pictures do not improve


class ImageDetail(StrEnum):
    """The ``detail`` of every image. AUTO, the API's own default, is not sent."""

    AUTO = "auto"
    LOW = "low"
    HIGH = "high"


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointSettings(ServerSettings):
    """A model under test behind an OpenAI-compatible endpoint; see `ServerSettings`.

    model: answers are kept under this name, whatever the address; that it is still the same model is looked at, see
        `same_model`.
    concurrency: it also bounds the frames in memory, about 10 MB a question.
    max_tokens: None for the task's own figure (PROTOCOL 1.2: 2,048; 512 for open answers), or 16,384 with
        ``thinking: on``.
    image_detail: see `ImageDetail`.
    jpeg_quality, jpeg_width_px: frames are encoded anew, in this quality (1 to 95) and scaled to this width, for
        providers that bound a request's size or a picture's. None leaves the frames' bytes as the protocol makes them.

    Raises ``InputError`` for values that cannot work.
    """

    image_detail: ImageDetail = ImageDetail.AUTO
    jpeg_quality: int | None = None
    jpeg_width_px: int | None = None

    def __post_init__(self) -> None:
        ServerSettings.__post_init__(self)  # super() does not work in a class with slots that a decorator makes anew
        if self.jpeg_quality is not None and not 1 <= self.jpeg_quality <= _MAX_JPEG_QUALITY:
            raise InputError(f"jpeg_quality must lie in [1, {_MAX_JPEG_QUALITY}], got {self.jpeg_quality}")
        if self.jpeg_width_px is not None and self.jpeg_width_px < 2:
            raise InputError(f"jpeg_width_px must be at least 2, got {self.jpeg_width_px}")

    def identity(self) -> dict[str, Any]:
        """What shapes an answer, the question and the token budget aside; the key of a journal's folder."""
        further = {"label": self.label, "jpeg_quality": self.jpeg_quality, "jpeg_width_px": self.jpeg_width_px}
        return {
            "endpoint": self.request_fields(budget_tokens=0),
            "image_detail": self.image_detail.value,
            **{name: value for name, value in further.items() if value is not None},
        }

    def first_budget(self, task_budget: int) -> int:
        """New tokens of a question's first attempt, where its task gives direct models ``task_budget``."""
        default = EGOGEARS.max_new_tokens_reasoning if self.thinking is Thinking.ON else task_budget
        return self.max_tokens or min(default, self.max_tokens_cap)


def load_endpoint_settings(path: Path) -> EndpointSettings:
    """Read an endpoint's YAML file.

    Raises ``InputError`` naming the file and the setting: one that is unknown, missing or wrong.
    """
    values = file_values(path, EndpointSettings, "the endpoint's")
    if missing := sorted({"base_url", "model"} - values.keys()):
        raise InputError(f"{path}: {' and '.join(missing)} must be set")
    try:
        return EndpointSettings(**values)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
