"""Families of vision-language models, each as data: how to make one small and random from its configuration class.

``config`` holds what `build.shrink` cannot know: widths that must agree, rotary sections, lists a layer each.
``real``: settings of the image part as published checkpoints have them, where the class's defaults differ.
"""

from dataclasses import dataclass, field
from typing import Any

CHATML = (
    "{%- for m in messages -%}<|im_start|>{{ m['role'] }}\n{% for p in m['content'] %}"
    "{% if p['type'] == 'image' %}IMAGE{% elif p['type'] == 'video' %}VIDEO{% else %}{{ p['text'] }}{% endif %}"
    "{% endfor %}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
GEMMA = (
    "{{ bos_token }}{% for m in messages %}<start_of_turn>{{ m['role'] }}\n{% for p in m['content'] %}"
    "{% if p['type'] == 'image' %}IMAGE{% elif p['type'] == 'video' %}VIDEO{% else %}{{ p['text'] | trim }}{% endif %}"
    "{% endfor %}<end_of_turn>\n{% endfor %}{% if add_generation_prompt %}<start_of_turn>model\n{% endif %}"
)
IMAGES_FIRST = (
    "{% for m in messages %}{{ m['role'].upper() }}: "
    "{% for p in m['content'] if p['type'] == 'image' %}IMAGE{% endfor %}"
    "{% for p in m['content'] if p['type'] == 'video' %}VIDEO{% endfor %}"
    "{% for p in m['content'] if p['type'] == 'text' %}{{ p['text'] }} {% endfor %}{% endfor %}"
    "{% if add_generation_prompt %}ASSISTANT:{% endif %}"
)
STRING_ONLY = (
    "{% for m in messages %}{{ '<|' + m['role'] + '|>' + m['content'] + '<|end|>' }}{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
QWEN = "<|vision_start|><|image_pad|><|vision_end|>"
QWEN_VIDEO = "<|vision_start|><|video_pad|><|vision_end|>"
QWEN_TOKENS = {
    "image_token": "<|image_pad|>",
    "video_token": "<|video_pad|>",
    "vision_start_token": "<|vision_start|>",
    "vision_end_token": "<|vision_end|>",
    "vision_bos_token": "<|vision_start|>",
    "vision_eos_token": "<|vision_end|>",
    "audio_token": "<|audio_pad|>",
    "audio_bos_token": "<|audio_start|>",
    "audio_eos_token": "<|audio_end|>",
}
GLM_TOKENS = {
    "image_token": "<|image|>",
    "video_token": "<|video|>",
    "image_start_token": "<|begin_of_image|>",
    "image_end_token": "<|end_of_image|>",
    "video_start_token": "<|begin_of_video|>",
    "video_end_token": "<|end_of_video|>",
}
_MROPE = {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [2, 3, 3]}
_GEMMA_TEXT = {"layer_types": ["sliding_attention", "full_attention"], "sliding_window": 64}
_SIGLIP = {"vision_config.image_size": 56, "vision_config.patch_size": 14}


@dataclass(frozen=True, slots=True)
class Recipe:
    """One family. ``answer``: what the program must do with its template as it stands: "runs" or "refused"."""

    model_type: str
    processor: str
    image_processor: str
    mark: str
    template: str = CHATML
    video_mark: str = "<video>"
    tokens: dict[str, str] = field(default_factory=lambda: {"image_token": "<image>"})
    config: dict[str, Any] = field(default_factory=dict)
    real: dict[str, Any] = field(default_factory=dict)
    small: dict[str, Any] = field(default_factory=dict)
    parts: dict[str, Any] = field(default_factory=dict)
    small_parts: dict[str, Any] = field(default_factory=dict)
    video_processor: str | None = None
    small_video: dict[str, Any] = field(default_factory=dict)
    context_tokens: int | None = None
    answer: str = "runs"
    arguments: str = ""


def _square(px: int) -> dict[str, Any]:
    return {"size": {"height": px, "width": px}}


_CLIP = {"size": {"shortest_edge": 56}, "crop_size": {"height": 56, "width": 56}}
_CLIP_REAL = {"size": {"shortest_edge": 336}, "crop_size": {"height": 336, "width": 336}}
_PIXELS = {"size": {"shortest_edge": 784, "longest_edge": 6400}}
_QWEN_CONFIG = {
    "text_config.rope_parameters": _MROPE,
    "vision_config.out_hidden_size": 32,
    "vision_config.hidden_size": 32,
    "vision_config.fullatt_block_indexes": [1],
    "vision_config.deepstack_visual_indexes": [0, 1],
    "vision_config.num_position_embeddings": 64,
}
_OV = {"image_grid_pinpoints": [[56, 56], [56, 112]]}
_LLAVA = {**_SIGLIP, "vision_feature_layer": -1}

RECIPES = {
    "llava": Recipe(
        "llava",
        "LlavaProcessor",
        "CLIPImageProcessor",
        "<image>\n",
        IMAGES_FIRST,
        config=_LLAVA,
        real=_CLIP_REAL,
        small=_CLIP,
        parts={"patch_size": 14, "vision_feature_select_strategy": "default", "num_additional_image_tokens": 1},
        context_tokens=4096,
        answer="refused",
    ),
    "llava in order": Recipe(
        "llava",
        "LlavaProcessor",
        "CLIPImageProcessor",
        "<image>\n",
        IMAGES_FIRST,
        config=_LLAVA,
        real=_CLIP_REAL,
        small=_CLIP,
        parts={"patch_size": 14, "vision_feature_select_strategy": "default", "num_additional_image_tokens": 1},
        context_tokens=4096,
        arguments="chat_template=in-order",
    ),
    "llava_next": Recipe(
        "llava_next",
        "LlavaNextProcessor",
        "LlavaNextImageProcessor",
        "<image>\n",
        IMAGES_FIRST,
        config={**_LLAVA, "image_grid_pinpoints": [[56, 56], [56, 112]]},
        small={**_CLIP, **_OV},
        parts={"patch_size": 14, "vision_feature_select_strategy": "default", "num_additional_image_tokens": 1},
        context_tokens=32768,
        arguments="chat_template=in-order",
    ),
    "vipllava": Recipe(
        "vipllava",
        "LlavaProcessor",
        "CLIPImageProcessor",
        "<image>\n",
        IMAGES_FIRST,
        config={**_SIGLIP, "vision_feature_layers": [-1, -2]},
        real=_CLIP_REAL,
        small=_CLIP,
        parts={"patch_size": 14, "vision_feature_select_strategy": "default", "num_additional_image_tokens": 1},
        context_tokens=4096,
        arguments="chat_template=in-order",
    ),
    "llava_onevision": Recipe(
        "llava_onevision",
        "LlavaOnevisionProcessor",
        "LlavaOnevisionImageProcessor",
        "<image>\n",
        IMAGES_FIRST,
        "<video>\n",
        tokens={"image_token": "<image>", "video_token": "<video>"},
        config={**_SIGLIP, **_OV},
        small={**_square(56), **_OV},
        parts={"num_image_tokens": 729, "vision_feature_select_strategy": "full"},
        small_parts={"num_image_tokens": 16},
        video_processor="LlavaOnevisionVideoProcessor",
        small_video=_square(56),
        arguments="chat_template=in-order",
    ),
    **{
        name: Recipe(
            name,
            processor,
            image,
            QWEN,
            video_mark=QWEN_VIDEO,
            tokens=QWEN_TOKENS,
            config={**_QWEN_CONFIG, **more},
            small=_PIXELS,
            video_processor=video,
            real={"patch_size": 16} if name.startswith("qwen3") else {},
        )
        for name, processor, image, video, more in (
            ("qwen2_vl", "Qwen2VLProcessor", "Qwen2VLImageProcessor", "Qwen2VLVideoProcessor", {}),
            ("qwen2_5_vl", "Qwen2_5_VLProcessor", "Qwen2VLImageProcessor", "Qwen2VLVideoProcessor", {}),
            ("qwen3_vl", "Qwen3VLProcessor", "Qwen2VLImageProcessor", "Qwen3VLVideoProcessor", {}),
            ("qwen3_vl_moe", "Qwen3VLProcessor", "Qwen2VLImageProcessor", "Qwen3VLVideoProcessor", {}),
            (
                "qwen3_5",
                "Qwen3VLProcessor",
                "Qwen2VLImageProcessor",
                "Qwen3VLVideoProcessor",
                {
                    "text_config.layer_types": ["linear_attention", "full_attention"],
                    "text_config.linear_key_head_dim": 16,
                    "text_config.linear_value_head_dim": 16,
                    "text_config.linear_num_key_heads": 2,
                    "text_config.linear_num_value_heads": 2,
                    "text_config.rope_parameters": {**_MROPE, "partial_rotary_factor": 1.0, "mrope_interleaved": True},
                },
            ),
        )
    },
    "internvl": Recipe(
        "internvl",
        "InternVLProcessor",
        "GotOcr2ImageProcessor",
        "<IMG_CONTEXT>\n",
        video_mark="<video>\n",
        tokens={
            "start_image_token": "<img>",
            "end_image_token": "</img>",
            "context_image_token": "<IMG_CONTEXT>",
            "video_token": "<video>",
            "image_token": "<IMG_CONTEXT>",
        },
        config={
            "vision_config.image_size": [56, 56],
            "vision_config.patch_size": [14, 14],
            "image_seq_length": 4,
        },
        real=_square(448) | {"crop_to_patches": True},
        small=_square(56),
        small_parts={"image_seq_length": 4},
        video_processor="InternVLVideoProcessor",
        small_video=_square(56),
    ),
    "smolvlm": Recipe(
        "smolvlm",
        "SmolVLMProcessor",
        "SmolVLMImageProcessor",
        "<image>",
        video_mark="<video>",
        tokens={
            "image_token": "<image>",
            "fake_image_token": "<fake_token_around_image>",
            "global_image_token": "<global-img>",
            "end_of_utterance_token": "<end_of_utterance>",
            "video_token": "<video>",
        },
        config={**_SIGLIP},
        real={"size": {"longest_edge": 1536}, "max_image_size": {"longest_edge": 384}},
        small={"size": {"longest_edge": 56}, "max_image_size": {"longest_edge": 56}, "do_image_splitting": False},
        parts={"image_seq_len": 81},
        small_parts={"image_seq_len": 4},
        context_tokens=8192,
        video_processor="SmolVLMVideoProcessor",
        small_video={"size": {"longest_edge": 56}, "max_image_size": {"longest_edge": 56}},
    ),
    "idefics2": Recipe(
        "idefics2",
        "Idefics2Processor",
        "Idefics2ImageProcessor",
        "<image>",
        config={
            **_SIGLIP,
            "perceiver_config.resampler_n_latents": 4,
            "perceiver_config.resampler_depth": 1,
            "perceiver_config.resampler_n_heads": 2,
            "perceiver_config.resampler_head_dim": 16,
        },
        small={"size": {"longest_edge": 56, "shortest_edge": 28}},
        small_parts={"image_seq_len": 4},
        tokens={"image_boundary_token": "<fake_token_around_image>", "image_token": "<image>"},
    ),
    "idefics3": Recipe(
        "idefics3",
        "Idefics3Processor",
        "Idefics3ImageProcessor",
        "<image>",
        tokens={
            "fake_image_token": "<fake_token_around_image>",
            "image_token": "<image>",
            "global": "<global-img>",
        },
        config=_SIGLIP,
        real={"size": {"longest_edge": 1456}},
        small={"size": {"longest_edge": 56}, "max_image_size": {"longest_edge": 56}},
        small_parts={"image_seq_len": 4},
        context_tokens=10240,
    ),
    "gemma3": Recipe(
        "gemma3",
        "Gemma3Processor",
        "Gemma3ImageProcessor",
        "<start_of_image>",
        GEMMA,
        tokens={"boi_token": "<start_of_image>", "eoi_token": "<end_of_image>", "image_token": "<image_soft_token>"},
        config={
            **_SIGLIP,
            "mm_tokens_per_image": 4,
            **{f"text_config.{name}": value for name, value in _GEMMA_TEXT.items()},
        },
        real=_square(896),
        small=_square(56),
        small_parts={"image_seq_length": 4},
    ),
    "mistral3": Recipe(
        "mistral3",
        "PixtralProcessor",
        "PixtralImageProcessor",
        "[IMG]",
        tokens={"image_token": "[IMG]", "image_break_token": "[IMG_BREAK]", "image_end_token": "[IMG_END]"},
        config={"vision_config.image_size": 112, "vision_config.head_dim": 16},
        real={"patch_size": {"height": 14, "width": 14}, "size": {"longest_edge": 1540}},
        small={"size": {"longest_edge": 56}, "patch_size": {"height": 14, "width": 14}},
        parts={"patch_size": 14, "spatial_merge_size": 2},
    ),
    "pixtral": Recipe(
        "llava",
        "PixtralProcessor",
        "PixtralImageProcessor",
        "[IMG]",
        tokens={"image_token": "[IMG]", "image_break_token": "[IMG_BREAK]", "image_end_token": "[IMG_END]"},
        config={
            "vision_config": {
                "model_type": "pixtral",
                "image_size": 112,
                "patch_size": 16,
                "head_dim": 16,
                "hidden_size": 32,
                "intermediate_size": 32,
                "num_hidden_layers": 2,
                "num_attention_heads": 2,
            },
            "vision_feature_layer": -1,
            "vision_feature_select_strategy": "full",
        },
        small={"size": {"longest_edge": 64}, "patch_size": {"height": 16, "width": 16}},
        parts={"patch_size": 16},
        context_tokens=131072,
    ),
    "aya_vision": Recipe(
        "aya_vision",
        "AyaVisionProcessor",
        "GotOcr2ImageProcessor",
        "<image>",
        tokens={
            "image_token": "<image>",
            "a": "<|START_OF_IMG|>",
            "b": "<|END_OF_IMG|>",
            "c": "<|IMG_PATCH|>",
            "d": "<|IMG_LINE_BREAK|>",
        },
        config={
            **_SIGLIP,
            "alignment_intermediate_size": 32,
            "image_token_index": "<|IMG_PATCH|>",
            "text_config.layer_types": ["sliding_attention", "full_attention"],
        },
        real=_square(364) | {"crop_to_patches": True},
        small=_square(56),
        parts={"patch_size": 14, "img_size": 364, "downsample_factor": 2},
        small_parts={"img_size": 56},
        context_tokens=16384,
    ),
    "cohere2_vision": Recipe(
        "cohere2_vision",
        "Cohere2VisionProcessor",
        "Cohere2VisionImageProcessor",
        "<|IMG_PATCH|>",
        tokens={
            "image_token": "<|IMG_PATCH|>",
            "boi_token": "<|START_OF_IMG|>",
            "eoi_token": "<|END_OF_IMG|>",
            "img_line_break_token": "<|IMG_LINE_BREAK|>",
        },
        config={
            **_SIGLIP,
            "alignment_intermediate_size": 32,
            "text_config.layer_types": ["sliding_attention", "full_attention"],
        },
        real=_square(512),
        small=_square(56) | {"patch_size": 2},
    ),
    "mllama": Recipe(
        "mllama",
        "MllamaProcessor",
        "MllamaImageProcessor",
        "<|image|>",
        "{{ bos_token }}" + CHATML,
        tokens={"image_token": "<|image|>", "python_token": "<|python_tag|>"},
        config={
            "vision_config.image_size": 56,
            "vision_config.patch_size": 14,
            "vision_config.attention_heads": 2,
            "vision_config.num_global_layers": 1,
            "vision_config.intermediate_layers_indices": [0, 1],
            "vision_config.vision_output_dim": 96,
            "text_config.cross_attention_layers": [1],
            "vision_config.max_num_tiles": 4,
        },
        real=_square(560),
        small=_square(56),
    ),
    **{
        name: Recipe(
            name,
            processor,
            image,
            "<|begin_of_image|><|image|><|end_of_image|>",
            video_mark="<|begin_of_video|><|video|><|end_of_video|>",
            tokens=GLM_TOKENS,
            config={
                "text_config.rope_parameters": {**_MROPE, "partial_rotary_factor": 1.0},
                "vision_config.out_hidden_size": 32,
                "vision_config.hidden_size": 32,
                "vision_config.image_size": 112,
                "text_config.n_routed_experts": 4,
                "text_config.n_group": 1,
                "text_config.topk_group": 1,
                "text_config.first_k_dense_replace": 1,
            },
            small={"size": {"shortest_edge": 1568, "longest_edge": 12544}},
            video_processor=video,
            context_tokens=context,
        )
        for name, processor, image, video, context in (
            ("glm4v", "Glm4vProcessor", "Glm4vImageProcessor", "Glm4vVideoProcessor", 65536),
            ("glm46v", "Glm46VProcessor", "Glm46VImageProcessor", "Glm46VVideoProcessor", 131072),
            ("glm4v_moe", "Glm4vProcessor", "Glm4vImageProcessor", "Glm4vVideoProcessor", 65536),
        )
    },
    "janus": Recipe(
        "janus",
        "JanusProcessor",
        "JanusImageProcessor",
        "<image_placeholder>",
        tokens={"image_token": "<image_placeholder>", "boi_token": "<begin_of_image>", "eoi_token": "<end_of_image>"},
        config={
            "vision_config.image_size": 56,
            "vision_config.patch_size": 14,
            "vision_config.num_image_tokens": 16,
            "vision_config.projection_dim": 32,
            "vq_config.base_channels": 32,
            "vq_config.embed_dim": 8,
            "vq_config.latent_channels": 32,
            "vq_config.num_embeddings": 16,
            "vq_config.num_patches": 4,
            "vq_config.projection_dim": 32,
            "vq_config.image_token_embed_dim": 32,
            "vq_config.channel_multiplier": [1, 1],
        },
        real=_square(384),
        small=_square(56),
        small_parts={"num_image_tokens": 16},
        context_tokens=16384,
    ),
    "perception_lm": Recipe(
        "perception_lm",
        "PerceptionLMProcessor",
        "PerceptionLMImageProcessor",
        "<|image|>",
        video_mark="<|video|>",
        tokens={"image_token": "<|image|>", "video_token": "<|video|>"},
        config={
            "vision_config": {
                "model_type": "timm_wrapper",
                "architecture": "vit_pe_core_large_patch14_336",
                "do_pooling": False,
                "num_classes": 0,
                "global_pool": "",
                "initializer_range": 0.02,
                "model_args": {
                    "embed_dim": 32,
                    "img_size": [56, 56],
                    "depth": 2,
                    "num_heads": 2,
                    "global_pool": "",
                    "use_post_transformer_norm": False,
                    "init_values": 0.1,
                    "ref_feat_shape": [4, 4],
                },
            },
            "vision_use_cls_token": True,
            "projector_pooling_ratio": 2,
        },
        real={"tile_size": 448, "max_num_tiles": 36, "vision_input_type": "thumb+tile"},
        small={"tile_size": 56, "max_num_tiles": 1, "vision_input_type": "vanilla"},
        parts={"patch_size": 14, "pooling_ratio": 2},
        video_processor="PerceptionLMVideoProcessor",
        small_video=_square(56),
        context_tokens=131072,
    ),
    "lfm2_vl": Recipe(
        "lfm2_vl",
        "Lfm2VlProcessor",
        "Lfm2VlImageProcessor",
        "<image>",
        tokens={
            "image_token": "<image>",
            "image_start_token": "<|image_start|>",
            "image_end_token": "<|image_end|>",
            "image_thumbnail_token": "<|img_thumbnail|>",
        },
        config={
            "text_config.layer_types": ["conv", "full_attention"],
            "text_config.full_attn_idxs": [1],
            "text_config.block_ff_dim": 32,
            "text_config.block_auto_adjust_ff_dim": False,
            "vision_config.num_patches": 64,
            "projector_hidden_size": 32,
        },
        small={
            "min_image_tokens": 1,
            "max_image_tokens": 8,
            "max_num_patches": 64,
            "do_image_splitting": False,
            "encoder_patch_size": 16,
        },
    ),
    "deepseek_vl": Recipe(
        "deepseek_vl",
        "DeepseekVLProcessor",
        "DeepseekVLImageProcessor",
        "<image_placeholder>",
        tokens={"image_token": "<image_placeholder>"},
        config=_SIGLIP,
        real=_square(384),
        small=_square(56),
        small_parts={"num_image_tokens": 16},
        context_tokens=16384,
    ),
    "ovis2": Recipe(
        "ovis2",
        "Ovis2Processor",
        "Ovis2ImageProcessor",
        "<image>",
        tokens={
            "image_token": "<image>",
            "a": "<IMG_ATOM>",
            "b": "<IMG_START>",
            "c": "<IMG_GRID>",
            "d": "<IMG_COL>",
            "e": "<IMG_ROW>",
            "f": "<IMG_END>",
        },
        config={
            "hidden_size": 32,
            "image_token_id": "<IMG_ATOM>",
            "visual_indicator_token_ids": ["<IMG_START>", "<IMG_GRID>", "<IMG_COL>", "<IMG_ROW>", "<IMG_END>"],
            "vision_config.image_size": 56,
            "vision_config.patch_size": 14,
            "vision_config.vocab_size": 64,
            "vision_config.hidden_stride": 2,
        },
        real=_square(448) | {"crop_to_patches": True},
        small=_square(56),
        small_parts={"image_seq_length": 4},
    ),
    "llama4": Recipe(
        "llama4",
        "Llama4Processor",
        "Llama4ImageProcessor",
        "<|image|>",
        "{{ bos_token }}" + CHATML,
        tokens={
            "image_token": "<|image|>",
            "a": "<|image_start|>",
            "b": "<|image_end|>",
            "c": "<|patch|>",
            "d": "<|tile_x_separator|>",
            "e": "<|tile_y_separator|>",
        },
        config={
            "vision_config.image_size": 56,
            "vision_config.patch_size": 14,
            "vision_config.vision_output_dim": 32,
            "vision_config.projector_input_dim": 32,
            "vision_config.projector_output_dim": 32,
            "vision_config.intermediate_size": 128,
            "text_config.layer_types": ["chunked_attention", "full_attention"],
            "text_config.no_rope_layers": [1, 0],
            "text_config.moe_layers": [1],
            "text_config.num_local_experts": 4,
            "text_config.intermediate_size_mlp": 32,
            "image_token_index": "<|patch|>",
        },
        real=_square(336) | {"max_patches": 16},
        small=_square(56),
        context_tokens=10_485_760,
        answer="refused",  # transformers 5.24: its forward asks for a field that its output has not
    ),
    "aria": Recipe(
        "aria",
        "AriaProcessor",
        "AriaImageProcessor",
        "<fim_prefix><|img|><fim_suffix>",
        tokens={"image_token": "<|img|>"},
        config={
            "vision_config.image_size": 490,
            "vision_config.patch_size": 14,
            "projector_patch_to_query_dict": {"1225": 4, "4900": 4},
            "text_config.moe_num_experts": 4,
            "text_config.moe_num_shared_experts": 1,
        },
        small={"max_image_size": 490, "min_image_size": 336},
        small_parts={"size_conversion": {490: 4, 980: 4}},
        context_tokens=65536,
        arguments="images_kwargs={max_image_size: 490}",
    ),
    "t5gemma2": Recipe(
        "t5gemma2",
        "Gemma3Processor",
        "Gemma3ImageProcessor",
        "<start_of_image>",
        GEMMA,
        tokens={"boi_token": "<start_of_image>", "eoi_token": "<end_of_image>", "image_token": "<image_soft_token>"},
        config={
            "encoder.vision_config.image_size": 56,
            "encoder.vision_config.patch_size": 14,
            "encoder.mm_tokens_per_image": 4,
            **{
                f"{side}.{name}": value
                for side in ("encoder.text_config", "decoder")
                for name, value in _GEMMA_TEXT.items()
            },
        },
        real=_square(896),
        small=_square(56),
        small_parts={"image_seq_length": 4},
    ),
    "qwen2_5_omni": Recipe(
        "qwen2_5_omni",
        "Qwen2_5OmniProcessor",
        "Qwen2VLImageProcessor",
        "<|vision_start|><|image_pad|><|vision_end|>",
        video_mark=QWEN_VIDEO,
        tokens=QWEN_TOKENS,
        config={
            "thinker_config.vision_start_token_id": "<|vision_start|>",
            "thinker_config.vision_end_token_id": "<|vision_end|>",
            "thinker_config.text_config.rope_parameters": _MROPE,
            "thinker_config.vision_config.out_hidden_size": 32,
            "thinker_config.vision_config.hidden_size": 32,
            "thinker_config.vision_config.fullatt_block_indexes": [1],
            "thinker_config.audio_config.d_model": 32,
            "thinker_config.audio_config.encoder_layers": 1,
            "thinker_config.audio_config.encoder_attention_heads": 2,
            "thinker_config.audio_config.encoder_ffn_dim": 32,
            "thinker_config.audio_config.output_dim": 32,
        },
        small=_PIXELS,
        video_processor="Qwen2VLVideoProcessor",
    ),
    "phi4_multimodal": Recipe(
        "phi4_multimodal",
        "Phi4MultimodalProcessor",
        "Phi4MultimodalImageProcessor",
        "<|image|>",
        STRING_ONLY,
        tokens={"image_token": "<|endoftext10|>", "audio_token": "<|endoftext11|>"},
        config={
            "vision_config.image_size": 448,
            "vision_config.crop_size": 448,
            "vision_config.patch_size": 14,
            "vision_config.image_token_id": "<|endoftext10|>",
            "audio_config.audio_token_id": "<|endoftext11|>",
            "audio_config.num_blocks": 1,
            "audio_config.nemo_conv_channels": 32,
            "audio_config.ext_pw_out_channel": 32,
            "audio_config.depthwise_separable_out_channel": 32,
        },
        real={"size": {"height": 448, "width": 448}},
        small={"dynamic_hd": 1},
        arguments="chat_template=in-order",
    ),
    "paligemma": Recipe(
        "paligemma",
        "PaliGemmaProcessor",
        "SiglipImageProcessor",
        "<image>",
        "",
        tokens={"image_token": "<image>"},
        config={**_SIGLIP, "projection_dim": 32, "hidden_size": 32, "text_config.num_image_tokens": 16},
        real=_square(224) | {"image_seq_length": 256},
        small=_square(56) | {"image_seq_length": 16},
        answer="refused",
    ),
    "video_llama_3": Recipe(
        "video_llama_3",
        "VideoLlama3Processor",
        "VideoLlama3ImageProcessor",
        "<|image_pad|>",
        video_mark="<|video_pad|>",
        tokens=QWEN_TOKENS,
        config={"vision_config.patch_size": 14},
        small=_PIXELS,
        video_processor="VideoLlama3VideoProcessor",
    ),
    "gemma4": Recipe(
        "gemma4",
        "Gemma4Processor",
        "Gemma4ImageProcessor",
        "<|image|>",
        GEMMA,
        video_mark="<|video|>",
        tokens={
            "boi_token": "<|image>",
            "eoi_token": "<image|>",
            "image_token": "<|image|>",
            "video_token": "<|video|>",
            "audio_token": "<|audio|>",
            "boa_token": "<|audio>",
            "eoa_token": "<audio|>",
        },
        config={
            **{f"text_config.{name}": value for name, value in _GEMMA_TEXT.items()},
            "text_config.hidden_size_per_layer_input": 16,
            "text_config.per_layer_config": {1: {"head_dim": 16}},
            "vision_config": {
                "model_type": "gemma4_vision",
                "hidden_size": 32,
                "intermediate_size": 32,
                "num_hidden_layers": 2,
                "num_attention_heads": 2,
                "num_key_value_heads": 2,
                "head_dim": 16,
                "patch_size": 16,
                "pooling_kernel_size": 3,
                "position_embedding_size": 64,
            },
        },
        small={"max_soft_tokens": 70},
        video_processor="Gemma4VideoProcessor",
        context_tokens=131072,
    ),
    "minicpmv4_6": Recipe(
        "minicpmv4_6",
        "MiniCPMV4_6Processor",
        "MiniCPMV4_6ImageProcessor",
        "<image_token>",
        video_mark="<video_token>",
        tokens={
            "image_token": "<image_token>",
            "video_token": "<video_token>",
            "image_start_token": "<image>",
            "image_end_token": "</image>",
            "slice_start_token": "<slice>",
            "slice_end_token": "</slice>",
            "image_id_start_token": "<image_id>",
            "image_id_end_token": "</image_id>",
        },
        config={
            "text_config.layer_types": ["linear_attention", "full_attention"],
            "text_config.linear_key_head_dim": 16,
            "text_config.linear_value_head_dim": 16,
            "text_config.linear_num_key_heads": 2,
            "text_config.linear_num_value_heads": 2,
            "text_config.rope_parameters": {
                "rope_type": "default",
                "rope_theta": 10000.0,
                "partial_rotary_factor": 1.0,
            },
            "vision_config.insert_layer_id": 0,
            "insert_layer_id": 0,
            "vision_config.patch_size": 14,
            "patch_size": 14,
        },
        small={"scale_resolution": 112, "slice_mode": False},
        video_processor="MiniCPMV4_6VideoProcessor",
    ),
    "kimi_k25": Recipe(
        "kimi_k25",
        "Kimi_K25Processor",
        "Kimi_K25ImageProcessor",
        "<|media_pad|>",
        video_mark="<|kimi_k25_video_placeholder|>",
        tokens={"image_token": "<|media_pad|>", "video_token": "<|kimi_k25_video_placeholder|>"},
        config={
            "vision_config.pos_emb_height": 8,
            "vision_config.pos_emb_width": 8,
            "projection_hidden_size": 32,
            "text_config.q_lora_rank": 16,
            "text_config.kv_lora_rank": 16,
            "text_config.qk_head_dim": 16,
            "text_config.qk_nope_head_dim": 8,
            "text_config.qk_rope_head_dim": 8,
            "text_config.v_head_dim": 16,
            "text_config.head_dim": 8,
            "text_config.n_routed_experts": 4,
            "text_config.n_group": 1,
            "text_config.topk_group": 1,
            "text_config.first_k_dense_replace": 1,
        },
        small={"max_patches": 16},
        video_processor="Kimi_K25VideoProcessor",
        context_tokens=262144,
    ),
    "blind (llama)": Recipe("llama", "", "", "", answer="refused"),
}
