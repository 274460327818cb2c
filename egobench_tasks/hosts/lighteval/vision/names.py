"""The names of a transformers model's settings, for who must know them before torch is there.

A test holds them to the fields of `settings.FrameVLMConfig`.
"""

SETTINGS = frozenset(
    {"adapter", "add_special_tokens", "attn_implementation", "batch_size", "cache_dir", "chat_template"}
    | {"chat_template_kwargs", "compile", "device", "device_map", "dtype", "generation_parameters", "generation_size"}
    | {"images_kwargs", "input", "max_length", "model_name", "model_parallel", "processor", "processor_kwargs"}
    | {"quantization", "revision", "subfolder", "system_prompt", "trust_remote_code", "use_fast_image_processor"}
)
"""But for what the program writes itself (``settled``)."""
