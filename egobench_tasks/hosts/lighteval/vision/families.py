"""What each family of models needs for many frames a question, as data: name in its config → settings.

Most processors cut a photograph into tiles, for small print; a video frame of 480 pixels' width gains nothing by
it and costs the tiles' tokens, up to 8,400 a frame (Perception-LM). So where a family tiles, one tile a frame is the
default; whoever sets one of these names in ``images_kwargs`` gets what was set.
"""

from collections.abc import Mapping
from typing import Any

_UNSPLIT = {"do_image_splitting": False}
_UNCROPPED = {"crop_to_patches": False}

IMAGES_KWARGS: Mapping[str, Mapping[str, Any]] = {
    "aya_vision": _UNCROPPED,
    "cohere2_vision": _UNCROPPED,
    "idefics2": _UNSPLIT,
    "idefics3": _UNSPLIT,
    "internvl": _UNCROPPED,
    "lfm2_vl": _UNSPLIT,
    "llama4": {"max_patches": 1},
    "minicpmv4_6": {"slice_mode": False},
    "ovis2": _UNCROPPED,
    "perception_lm": {"max_num_tiles": 1, "vision_input_type": "vanilla"},
    "phi4_multimodal": {"dynamic_hd": 1},
    "smolvlm": _UNSPLIT,
}
"""Defaults of ``images_kwargs`` by ``model_type``: one tile a frame.

Mllama is not among them: its tiles cost no tokens of the prompt, and its position embeddings want all four.
"""

SMALLER_INPUTS: tuple[Mapping[str, Any], ...] = (
    {"do_image_splitting": False},
    {"crop_to_patches": False},
    {"vision_input_type": "vanilla", "max_num_tiles": 1},
    {"max_patches": 1},
    {"slice_mode": False},
    {"dynamic_hd": 1},
    {"max_soft_tokens": 140},
    {"max_soft_tokens": 70},
    {"max_pixels": 100_352},
    {"max_pixels": 50_176},
    {"max_pixels": 25_088},
    {"size": {"shortest_edge": 3136, "longest_edge": 100_352}},
    {"size": {"shortest_edge": 3136, "longest_edge": 50_176}},
    {"size": {"longest_edge": 364}},
)
"""``images_kwargs`` that make a frame cost fewer tokens, to try where a prompt does not fit: the mildest first."""
