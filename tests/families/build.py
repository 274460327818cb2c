"""A recipe becomes a folder with a small random model of the family: weights, tokenizer, processor, template."""

import functools
import operator
from pathlib import Path
from typing import Any

import torch
import transformers
from recipes import Recipe
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
from transformers import CONFIG_MAPPING, AutoModelForCausalLM, AutoModelForMultimodalLM, PreTrainedTokenizerFast

BASE_TOKENS = ("<pad>", "<bos>", "<eos>", "<unk>")
TURNS = ("<|im_start|>", "<|im_end|>", "<start_of_turn>", "<end_of_turn>", "<fim_prefix>", "<fim_suffix>", "<|end|>")
CONTEXT_TOKENS = 400_000

_SMALL = {
    "num_hidden_layers": 2, "depth": 2, "num_attention_heads": 2, "num_heads": 2, "num_key_value_heads": 2,
    "hidden_size": 32, "intermediate_size": 32, "head_dim": 16, "embed_dim": 32, "projection_dim": 32,
    "num_experts": 4, "num_local_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16,
    "shared_expert_intermediate_size": 16, "max_position_embeddings": CONTEXT_TOKENS, "alignment_intermediate_size": 32,
}  # fmt: skip
_SPECIAL = {"bos_token_id": "<bos>", "eos_token_id": "<eos>", "pad_token_id": "<pad>"}
_LISTS_A_LAYER = (
    "layer_types",
    "mlp_layer_types",
    "no_rope_layers",
    "moe_layers",
    "full_attn_idxs",
    "layers_block_type",
)


def write_model(recipe: Recipe, folder: Path, *, seed: int = 0, dtype: torch.dtype = torch.float32) -> Path:
    """Write a random model of the family into ``folder``, with a small image part, and return it."""
    tokenizer = make_tokenizer(recipe)
    # The processor first: some add tokens of their own to the tokenizer.
    processor = make_processor(recipe, tokenizer, real=False) if recipe.processor else None
    config = make_config(recipe, tokenizer)
    torch.manual_seed(seed)
    known = AutoModelForMultimodalLM._model_mapping
    auto = AutoModelForMultimodalLM if type(config) in known else AutoModelForCausalLM
    thinker = getattr(config, "thinker_config", None)
    model = known[type(thinker)](thinker) if thinker is not None else auto.from_config(config)
    _open_gates(model)
    if thinker is not None:
        save_thinker(model, config, folder, dtype)
    else:
        model.to(dtype).save_pretrained(folder)
    if processor is not None:
        processor.save_pretrained(folder)
    else:
        tokenizer.chat_template = recipe.template
        tokenizer.save_pretrained(folder)
    return folder


def save_thinker(model: Any, config: Any, folder: Path, dtype: torch.dtype) -> None:
    """Save a thinker as it lies in the checkpoint of the whole model, which has a talker beside it."""
    from safetensors.torch import save_file

    folder.mkdir(parents=True)
    config.dtype = dtype
    config.save_pretrained(folder)
    tensors = {f"thinker.{name}": value.to(dtype).contiguous() for name, value in model.state_dict().items()}
    save_file(tensors, str(folder / "model.safetensors"), metadata={"format": "pt"})


def make_tokenizer(recipe: Recipe) -> PreTrainedTokenizerFast:
    """A byte-level tokenizer that knows the family's special tokens, and the names it gives them."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {token: index for index, token in enumerate([*BASE_TOKENS, *alphabet])}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    special = dict.fromkeys([*TURNS, *recipe.tokens.values()])
    tokenizer.add_special_tokens([AddedToken(token, special=True) for token in special])
    named = {name: token for name, token in recipe.tokens.items() if name.endswith("_token")}
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<bos>", eos_token="<eos>", pad_token="<pad>", unk_token="<unk>",
        extra_special_tokens=named,
    )  # fmt: skip


def make_processor(recipe: Recipe, tokenizer: PreTrainedTokenizerFast, *, real: bool) -> Any:
    """The family's processor: ``real``, as published checkpoints have it, or of a few patches an image."""
    image = getattr(transformers, recipe.image_processor)(**(recipe.real if real else {**recipe.real, **recipe.small}))
    parts = dict(recipe.parts if real else {**recipe.parts, **recipe.small_parts})
    if recipe.video_processor:
        parts["video_processor"] = getattr(transformers, recipe.video_processor)(**({} if real else recipe.small_video))
    if "Omni" in recipe.processor:
        parts["feature_extractor"] = transformers.WhisperFeatureExtractor()
    if recipe.processor == "Gemma4Processor":
        parts["feature_extractor"] = transformers.Gemma4AudioFeatureExtractor()
    if recipe.processor == "Phi4MultimodalProcessor":
        parts["audio_processor"] = transformers.Phi4MultimodalFeatureExtractor()
    processor = getattr(transformers, recipe.processor)(image_processor=image, tokenizer=tokenizer, **parts)
    template = recipe.template.replace("IMAGE", recipe.mark).replace("VIDEO", recipe.video_mark)
    processor.chat_template = template or None
    return processor


def make_config(recipe: Recipe, tokenizer: PreTrainedTokenizerFast) -> Any:
    """The family's configuration with small sizes and the tokenizer's ids."""
    kind = CONFIG_MAPPING[recipe.model_type]
    values = shrink(kind().to_dict(), tokenizer, recipe)
    for path, value in recipe.config.items():
        *parents, name = path.split(".")
        holder = functools.reduce(operator.getitem, parents, values)
        holder[name] = _with_ids(value, tokenizer)
    return kind.from_dict(values)


def _with_ids(value: Any, tokenizer: PreTrainedTokenizerFast) -> Any:
    """Tokens, where a value names some, as their ids."""
    tokens = value if isinstance(value, list) else [value]
    is_named = bool(tokens) and all(isinstance(token, str) and token in tokenizer.get_vocab() for token in tokens)
    return tokenizer.convert_tokens_to_ids(value) if is_named else value


def shrink(values: dict[str, Any], tokenizer: PreTrainedTokenizerFast, recipe: Recipe) -> dict[str, Any]:
    """The configuration's values, sizes small and token ids those of the tokenizer, at every depth."""
    small: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, dict) and name.endswith(("_config", "encoder", "decoder")):
            small[name] = shrink(value, tokenizer, recipe)
        elif name in ("transformers_version", "architectures", "dtype", *_LISTS_A_LAYER):
            continue
        elif name in _SMALL and isinstance(value, int) and not isinstance(value, bool):
            small[name] = _SMALL[name]
        elif name == "vocab_size":
            small[name] = len(tokenizer)
        elif name.endswith(("_token_id", "_token_index")):
            small[name] = _token_id(name, value, tokenizer, recipe)
        else:
            small[name] = value
    return small


def _token_id(name: str, value: Any, tokenizer: PreTrainedTokenizerFast, recipe: Recipe) -> Any:
    token = _SPECIAL.get(name) or recipe.tokens.get(name.rpartition("_")[0])
    if token is not None:
        return tokenizer.convert_tokens_to_ids(token)
    return None if value is None else tokenizer.unk_token_id


def _open_gates(model: Any) -> None:
    """Trained models look at their images; fresh ones have gates (Mllama) or projections (Gemma 3) of zeros."""
    for name, parameter in model.named_parameters():
        if "gate" in name and parameter.numel() == 1:
            parameter.data.fill_(1.0)
        elif "projection_weight" in name:
            parameter.data.normal_(std=0.2)
