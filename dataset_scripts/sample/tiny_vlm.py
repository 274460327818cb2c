"""A random LLaVA of a few kilobytes: it answers nonsense, through all of transformers' real code."""

import sys
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import (
    CLIPImageProcessor,
    CLIPVisionConfig,
    GenerationConfig,
    LlamaConfig,
    LlavaConfig,
    LlavaForConditionalGeneration,
    LlavaProcessor,
    PreTrainedTokenizerFast,
)

IMAGE_SIZE_PX, PATCH_SIZE_PX = 28, 14
_SPECIAL_TOKENS = ["<pad>", "<s>", "</s>", "<image>"]
_CHAT_TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}{{ message['role'] }}: {% for part in message['content'] %}"
    "{% if part['type'] == 'image' %}<image>{% else %}{{ part['text'] }}{% endif %}{% endfor %}\n{% endfor %}"
    "{% if add_generation_prompt %}assistant: {% endif %}"
)


def write_tiny_llava(folder: Path, *, seed: int = 0, context_tokens: int = 16384) -> Path:
    """Write a random LLaVA with a byte-level tokenizer into ``folder`` and return it.

    Needs no download and no torchvision. The space ends an answer beside the proper token, so that
    some generations stop by themselves; after 24 tokens an end becomes likelier with every one, so that all do.
    """
    tokenizer = _byte_tokenizer()
    ids = {token: tokenizer.convert_tokens_to_ids(token) for token in _SPECIAL_TOKENS}
    torch.manual_seed(seed)
    model = LlavaForConditionalGeneration(
        LlavaConfig(
            vision_config=CLIPVisionConfig(
                hidden_size=16,
                intermediate_size=16,
                num_hidden_layers=2,
                num_attention_heads=2,
                image_size=IMAGE_SIZE_PX,
                patch_size=PATCH_SIZE_PX,
                projection_dim=16,
            ),
            text_config=LlamaConfig(
                vocab_size=len(tokenizer),
                hidden_size=32,
                intermediate_size=32,
                num_hidden_layers=2,
                num_attention_heads=2,
                num_key_value_heads=2,
                max_position_embeddings=context_tokens,
                bos_token_id=ids["<s>"],
                eos_token_id=ids["</s>"],
                pad_token_id=ids["<pad>"],
            ),
            image_token_id=ids["<image>"],
        )
    )
    model.generation_config = GenerationConfig(
        bos_token_id=ids["<s>"],
        eos_token_id=[ids["</s>"], tokenizer.convert_tokens_to_ids("Ġ")],
        pad_token_id=ids["<pad>"],
        exponential_decay_length_penalty=(24, 2.0),
    )
    model.save_pretrained(folder)
    LlavaProcessor(
        image_processor=CLIPImageProcessor(
            size={"shortest_edge": IMAGE_SIZE_PX}, crop_size={"height": IMAGE_SIZE_PX, "width": IMAGE_SIZE_PX}
        ),
        tokenizer=tokenizer,
        patch_size=PATCH_SIZE_PX,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        image_token="<image>",
        chat_template=_CHAT_TEMPLATE,
    ).save_pretrained(folder)
    return folder


def _byte_tokenizer() -> PreTrainedTokenizerFast:
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {token: index for index, token in enumerate(_SPECIAL_TOKENS + alphabet)}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token="<s>",
        eos_token="</s>",
        pad_token="<pad>",
        extra_special_tokens={"image_token": "<image>"},
    )


if __name__ == "__main__":
    write_tiny_llava(Path(sys.argv[1]))
