"""The settings of a transformers model, from a command line or a YAML file, checked before anything is loaded."""

import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, Self

import torch
import yaml
from lighteval.models.transformers.vlm_transformers_model import VLMTransformersModelConfig
from pydantic import Field, ValidationError, field_validator

from egobench_tasks.data import is_revision, no_revision
from egobench_tasks.documents import parse_yaml, read_yaml
from egobench_tasks.errors import InputError
from egobench_tasks.hosts.lighteval.vision.names import SETTINGS
from egobench_tasks.texts import nearest, one_line

IN_ORDER = "in-order"
"""``chat_template=in-order``: the model's own template, with the marks of images written into the text by us."""

_DTYPES = {
    "auto": "auto",
    "bf16": "bfloat16",
    "bfloat16": "bfloat16",
    "fp16": "float16",
    "float16": "float16",
    "half": "float16",
    "fp32": "float32",
    "float32": "float32",
    "float": "float32",
    "fp64": "float64",
    "float64": "float64",
    "double": "float64",
    "4bit": "4bit",
    "8bit": "8bit",
}
_HUB_ID = re.compile(r"(?:\w[\w.-]*/)?\w[\w.-]*")
_QUANTIZATIONS = ("4bit", "8bit")
_DEVICE_MAPS = ("auto", "balanced", "balanced_low_0", "sequential")
_ATTENTIONS = ("eager", "sdpa", "flash_attention_2", "flash_attention_3", "flex_attention")


class InputForm(StrEnum):
    """How a clip's frames are given to the processor: as single pictures (the protocol's way), or as one video."""

    FRAMES = "frames"
    VIDEO = "video"


class FrameVLMConfig(VLMTransformersModelConfig):
    """lighteval's settings of a vision model, and those that real models need beside them.

    Everything here shapes the answers, and so is part of the journal's key and of the saved results.

    Attributes:
        images_kwargs: for the processor's image part, such as ``{max_pixels: 200704}``.
        processor_kwargs: for the processor, whatever part takes them.
        chat_template: a file with a Jinja template, or `IN_ORDER`; the model's own where not given.
        chat_template_kwargs: variables of the template, such as ``{enable_thinking: false}``.
        input: see `InputForm`.
        attn_implementation: the attention that transformers is to use, such as ``flash_attention_2``.
        quantization: ``4bit``, ``8bit``, or the fields of one of transformers' quantization configs.
        adapter: a folder or repository with a PEFT adapter.
        device_map: as transformers takes it: ``auto``, a device, or a mapping of modules.
        device: where the model runs; accelerate's choice where not given.
        settled: what the program decided itself: defaults of the model's family, the template in use. Not for users.
    """

    dtype: str | None = None
    device: str | None = None  # stock's default, "cuda", is read by nobody
    device_map: str | dict[str, Any] | None = None
    images_kwargs: dict[str, Any] = Field(default_factory=dict)
    processor_kwargs: dict[str, Any] = Field(default_factory=dict)
    chat_template: str | None = None
    chat_template_kwargs: dict[str, Any] = Field(default_factory=dict)
    input: InputForm = InputForm.FRAMES
    attn_implementation: str | None = None
    quantization: str | dict[str, Any] | None = None
    adapter: str | None = None
    settled: dict[str, Any] = Field(default_factory=dict)

    @classmethod
    def of(cls, config: VLMTransformersModelConfig) -> Self:
        """Return lighteval's own settings as ours: plain `lighteval` knows no others, and checks fewer of them.

        Raises ``InputError`` for a value that none of them has.
        """
        return config if isinstance(config, cls) else cls.checked(config.model_dump(exclude_unset=True))

    @classmethod
    def checked(cls, values: Mapping[str, Any]) -> Self:
        """Return the settings with these values. Raises ``InputError`` naming what is wrong and what is nearest."""
        try:
            return cls(**values)
        except ValidationError as error:
            raise InputError("\n".join(_fault(one) for one in error.errors())) from None

    def named(self) -> Self:
        """Return the settings under the name that results and tables show: video input is another condition."""
        if self.input is InputForm.FRAMES:
            return self
        return self.model_copy(update={"model_name": f"{self.model_name}+{self.input}"})

    @property
    def quantization_name(self) -> str | dict[str, Any] | None:
        """The quantization, which lighteval lets users give as a dtype, too."""
        return self.quantization or (self.dtype if self.dtype in _QUANTIZATIONS else None)

    @property
    def torch_dtype(self) -> torch.dtype | None:
        """The type of the weights; None leaves it to the checkpoint."""
        if self.dtype in (None, "auto", *_QUANTIZATIONS):
            return None
        return getattr(torch, self.dtype)

    @field_validator("model_name", "processor", "adapter")
    @classmethod
    def _nameable(cls, name: str | None) -> str | None:
        return name if name is None else _folder_or_hub_id(name)

    @field_validator("revision")
    @classmethod
    def _possible_revision(cls, name: str) -> str:
        if not is_revision(name):
            raise ValueError(no_revision(name))
        return name

    @field_validator("dtype")
    @classmethod
    def _known_dtype(cls, name: str | None) -> str | None:
        return None if name is None else _DTYPES[_known(name.lower().removeprefix("torch."), _DTYPES)]

    @field_validator("device", mode="before")
    @classmethod
    def _known_device(cls, name: str | int | None) -> str | None:
        return None if name is None else _device(str(name))

    @field_validator("device_map")
    @classmethod
    def _known_device_map(cls, name: str | dict[str, Any] | None) -> str | dict[str, Any] | None:
        if not isinstance(name, str) or name in _DEVICE_MAPS:
            return name
        try:
            return _device(name)
        except ValueError:
            raise ValueError(_no_such(name, _DEVICE_MAPS) + ", or a device such as cuda:0") from None

    @field_validator("attn_implementation")
    @classmethod
    def _known_attention(cls, name: str | None) -> str | None:
        # A name with a slash is a kernel of the Hub's, which transformers fetches.
        return name if name is None or "/" in name else _known(name, _ATTENTIONS)

    @field_validator("quantization")
    @classmethod
    def _known_quantization(cls, value: str | dict[str, Any] | None) -> str | dict[str, Any] | None:
        if isinstance(value, Mapping) and "quant_method" not in value:
            raise ValueError("a mapping needs quant_method, as in transformers' quantization configs")
        return _known(value, _QUANTIZATIONS) if isinstance(value, str) else value

    @field_validator("compile")
    @classmethod
    def _not_compiled(cls, wanted: bool) -> bool:
        if wanted:
            raise ValueError("vision models are not compiled here; leave it out")
        return wanted

    @field_validator("chat_template")
    @classmethod
    def _template_exists(cls, name: str | None) -> str | None:
        if name is None or name == IN_ORDER or Path(name).is_file():
            return name
        raise ValueError(f"neither a file nor {IN_ORDER!r}")


def read_settings(text: str) -> FrameVLMConfig:
    """Return the model's settings from ``name=value,…`` or from a YAML file with ``model_parameters``.

    Values in braces are mappings, as in YAML's flow style: ``images_kwargs={max_pixels: 200704}``.
    Raises ``InputError`` that names what is unknown, and what is nearest to it.
    """
    values = _from_file(Path(text)) if text.endswith((".yaml", ".yml")) else _from_arguments(text)
    if "settled" in values:
        raise InputError("settled: is for the program to write; leave it out")
    if "model_name" not in values:
        raise InputError('no model_name; a model is given as "model_name=FOLDER_OR_NAME,…" or in a YAML file')
    return FrameVLMConfig.checked(values)


def _folder_or_hub_id(name: str) -> str:
    """Return a folder's path or a Hub id. Raises ``ValueError`` for what can be neither, before the Hub is asked."""
    path = Path(name).expanduser()
    if path.exists():
        return str(path) if name.startswith("~") else name
    if _HUB_ID.fullmatch(name):
        return name
    repository, at, revision = name.partition("@")
    if at and _HUB_ID.fullmatch(repository):
        raise ValueError(f"a revision is a setting of its own: {repository},revision={revision.lstrip('@') or 'main'}")
    raise ValueError("there is no such folder here, and no name on the Hub is like this (ORG/NAME)")


def _known(name: str, known: Iterable[str]) -> str:
    if name in known:
        return name
    raise ValueError(_no_such(name, known))


def _no_such(name: str, known: Iterable[str]) -> str:
    return f"there is no {name!r}; {nearest(name, known)}"


def _device(name: str) -> str:
    """Return the device's name. Raises ``ValueError`` where this machine has none such."""
    try:
        device = torch.device(int(name) if name.isdecimal() else name)
    except (RuntimeError, ValueError):
        raise ValueError(f"there is no device {name!r}; known: cpu, cuda, cuda:0, mps, xpu …") from None
    if device.type == "cpu" or device.type == "meta":
        return str(device)
    module = getattr(torch, device.type, None)
    if module is None or not module.is_available() or (device.index or 0) >= module.device_count():
        raise ValueError(f"this machine has no device {name!r}, as far as torch sees")
    return str(device)


def _fault(error: Mapping[str, Any]) -> str:
    name = ".".join(map(str, error["loc"]))
    if error["type"] == "extra_forbidden":
        return f"the model has no setting {name!r}; {nearest(name, SETTINGS)}"
    message = error["msg"].removeprefix("Value error, ")
    return f"{name}={error['input']}: {message}"


def _from_file(path: Path) -> dict[str, Any]:
    loaded = read_yaml(path, "the model's settings")
    values = loaded.get("model_parameters") if isinstance(loaded, Mapping) else None
    if not isinstance(values, Mapping):
        raise InputError(f"{path}: must hold a mapping named model_parameters, with model_name and further settings")
    return {str(name): value for name, value in values.items()}


def _from_arguments(text: str) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for part in _split(text):
        name, equals, value = part.partition("=")
        name = name.strip()
        if name in values:
            raise InputError(f"{name}: is given twice")
        values[name] = _value(name, value.strip()) if equals else True
    return values


def _split(text: str) -> list[str]:
    """The parts between commas, those inside braces, brackets and quotes aside."""
    parts, depth, quote, begin = [], 0, "", 0
    for place, sign in enumerate(text):
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "\"'" and text[place - 1 : place] in ("=", ":", " ", ",", "{", "["):
            quote = sign
        elif sign in "{[":
            depth += 1
        elif sign in "}]":
            depth -= 1
        elif sign == "," and depth == 0:
            parts.append(text[begin:place])
            begin = place + 1
    if depth or quote:
        raise InputError(f"{text}: a brace, bracket or quote is not closed")
    return [part for part in [*parts, text[begin:]] if part.strip()]


# lighteval's own form has no blank after the colon, or an equals sign in its place; YAML's needs the blank.
_TIGHT_KEY = re.compile(r"""(?<=[{,\s])([\w"']+)\s*[:=](?!//)\s*""")


def _value(name: str, text: str) -> Any:
    if text[:1] in ("{", "["):
        try:
            return parse_yaml(_TIGHT_KEY.sub(r"\1: ", text))
        except yaml.YAMLError as error:
            raise InputError(f"{name}={text}: cannot be read as a mapping ({one_line(error)})") from error
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        return text[1:-1]
    return text
