"""Finding and loading a model's parts. What can be known before the weights are read is found out before."""

import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transformers import AutoConfig, AutoModelForMultimodalLM, AutoProcessor, PretrainedConfig
from transformers.dynamic_module_utils import get_class_from_dynamic_module
from transformers.quantizers.auto import AutoQuantizationConfig
from transformers.utils.quantization_config import BitsAndBytesConfig

from egobench_tasks.documents import parse_json
from egobench_tasks.errors import InputError
from egobench_tasks.extras import install_command
from egobench_tasks.hosts.lighteval.vision.placing import ROOM
from egobench_tasks.hosts.lighteval.vision.settings import FrameVLMConfig
from egobench_tasks.texts import first_line

_ADAPTER_FILE, _CONFIG_FILE = "adapter_config.json", "config.json"
_REMOTE_CLASSES = ("AutoModelForImageTextToText", "AutoModelForMultimodalLM", "AutoModelForCausalLM", "AutoModel")
"""Names under which a repository with code of its own may offer a model that answers in words, best first."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A model that can be loaded. ``weights``: its folder or repository; ``adapter``: that of a PEFT adapter on it."""

    weights: str
    adapter: str | None
    config: PretrainedConfig
    model_class: Any

    @property
    def is_encoder_decoder(self) -> bool:
        """Whether the answer is a sequence of its own, not what follows the prompt."""
        return bool(getattr(self.config, "is_encoder_decoder", False))


def find_checkpoint(settings: FrameVLMConfig) -> Checkpoint:
    """Return the model that the settings name; no weights are read.

    Raises ``InputError`` where it is not there, is none that sees images, or needs a package that is not installed.
    """
    weights, adapter = settings.model_name, settings.adapter
    if adapter is None and _is_adapter(Path(weights)):
        weights, adapter = _base_of(Path(weights)), weights
    if adapter is not None:
        _need_package("peft", f"adapter={adapter}")
    _check_quantization(settings)
    config = _load("config", weights, AutoConfig.from_pretrained, settings)
    # A model that also speaks: its thinker alone writes, and its talker would fill memory for nothing.
    config = getattr(config, "thinker_config", config)
    return Checkpoint(weights, adapter, config, _model_class(config, weights, settings))


def load_processor(settings: FrameVLMConfig, checkpoint: Checkpoint) -> Any:
    """Return the model's processor, padding on the left, with a padding token.

    Raises ``InputError`` where it cannot be loaded, or has no part for images.
    """
    name = settings.processor or checkpoint.weights
    arguments = {} if settings.use_fast_image_processor is None else {"use_fast": settings.use_fast_image_processor}
    processor = _load("processor", name, AutoProcessor.from_pretrained, settings, padding_side="left", **arguments)
    if getattr(processor, "image_processor", None) is None or getattr(processor, "tokenizer", None) is None:
        raise InputError(
            f"{name}: its processor ({type(processor).__name__}) takes no images, so the model would answer blind. "
            "Give processor=NAME if another one is the model's"
        )
    tokenizer = processor.tokenizer
    tokenizer.padding_side = "left"  # some processors keep the tokenizer's own, and answers would follow padding
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token or tokenizer.unk_token or tokenizer.bos_token
    return processor


def load_model(settings: FrameVLMConfig, checkpoint: Checkpoint, placement: dict[str, Any]) -> Any:
    """Return the model with its weights, for inference. ``placement``: device map and memory, as transformers' own.

    Raises ``InputError`` where they cannot be loaded.
    """
    arguments = {
        **placement,
        "quantization_config": _quantization(settings),
        "attn_implementation": settings.attn_implementation,
    }
    if settings.torch_dtype is not None:
        arguments["dtype"] = settings.torch_dtype
    given = {name: value for name, value in arguments.items() if value is not None}
    try:
        model = _load("weights", checkpoint.weights, checkpoint.model_class.from_pretrained, settings, **given)
    except InputError as error:
        if "device_map" not in given:
            raise
        reason = str(error).partition(". ")[0].rstrip(".")  # without advice on arguments that nobody here can give
        raise InputError(f"{reason}. They were to be placed by device_map={given['device_map']}: {ROOM}") from error
    if checkpoint.adapter is not None:
        from peft import PeftModel

        try:
            model = PeftModel.from_pretrained(model, checkpoint.adapter)
        except (OSError, ValueError, RuntimeError, KeyError) as error:
            raise InputError(
                f"{checkpoint.adapter}: does not fit {checkpoint.weights} ({first_line(error)})"
            ) from error
    return model.eval()


def _load(what: str, name: str, load: Any, settings: FrameVLMConfig, **arguments: Any) -> Any:
    """Call one of transformers' loaders; what fails there is one message here."""
    if settings.subfolder is not None:
        arguments["subfolder"] = settings.subfolder
    try:
        return load(name, revision=settings.revision, trust_remote_code=settings.trust_remote_code, **arguments)
    except ImportError as error:
        hint = f" ({install_command('vlm')})" if "torchvision" in str(error).lower() else ""
        raise InputError(
            f"{name}: its {what} needs a package that is not installed{hint}: {first_line(error)}"
        ) from error
    except (OSError, ValueError, KeyError, RuntimeError, TypeError, AttributeError) as error:
        raise InputError(
            f"{name}: its {what} cannot be loaded (revision {settings.revision}): {first_line(error)}"
        ) from error


def _model_class(config: PretrainedConfig, name: str, settings: FrameVLMConfig) -> Any:
    known = AutoModelForMultimodalLM._model_mapping  # it holds all of AutoModelForImageTextToText, and more
    if type(config) in known:
        return known[type(config)]
    remote = getattr(config, "auto_map", None) or {}
    for class_name in _REMOTE_CLASSES:
        if class_name in remote and settings.trust_remote_code:
            return get_class_from_dynamic_module(remote[class_name], name, revision=settings.revision)
    raise InputError(
        f"{name}: transformers knows {config.model_type!r} as no model that reads images and answers in words. "
        "A model with code of its own needs trust_remote_code=true; others can be served and run as an endpoint"
    )


def _is_adapter(folder: Path) -> bool:
    return (folder / _ADAPTER_FILE).is_file() and not (folder / _CONFIG_FILE).is_file()


def _base_of(folder: Path) -> str:
    """The model that an adapter was trained on, as the adapter names it."""
    path = folder / _ADAPTER_FILE
    try:
        base = parse_json(path.read_text(encoding="utf-8"))["base_model_name_or_path"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path}: names no base_model_name_or_path ({type(error).__name__})") from error
    if not isinstance(base, str) or not base:
        raise InputError(f"{path}: names no base model; give model_name=BASE,adapter={folder}")
    return base


def _check_quantization(settings: FrameVLMConfig) -> None:
    quantization = settings.quantization_name
    if quantization is None:
        return
    if isinstance(quantization, str) or quantization["quant_method"] == "bitsandbytes":
        _need_package("bitsandbytes", f"quantization={quantization}")
    _quantization(settings)


def _quantization(settings: FrameVLMConfig) -> Any:
    quantization = settings.quantization_name
    if quantization is None:
        return None
    if quantization == "4bit":
        return BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_compute_dtype=settings.torch_dtype)
    if quantization == "8bit":
        return BitsAndBytesConfig(load_in_8bit=True)
    try:
        return AutoQuantizationConfig.from_dict(quantization)
    except (ValueError, TypeError, KeyError) as error:
        raise InputError(f"quantization={quantization}: {first_line(error)}") from error


def _need_package(package: str, setting: str) -> None:
    if importlib.util.find_spec(package) is None:
        raise InputError(f"{setting}: needs the package {package}, which is not installed (pip install {package})")
