"""Models over several devices: where inputs go, and what is said of parts that found no room there."""

from typing import Any

import torch

_EMPTY, _STORES = "meta", ("cpu", "disk")
"""In a device map's words: the device of weights that are read when they are used, and where they are kept until then
beside accelerators."""

ROOM = "free memory on the devices, or make the weights smaller (dtype=bf16, quantization=4bit)"


def input_device(model: Any) -> torch.device:
    """Return where a model takes its inputs: with its first weights, but for those that are read when they are used."""
    if model.device.type != _EMPTY:
        return model.device
    computing = [place for place in model.hf_device_map.values() if str(place) not in _STORES]
    return torch.device(computing[0] if computing else "cpu")


def put_aside(model: Any) -> str | None:
    """Return, in words, which parts are kept where nothing is computed, and the remedy; None where there are none.

    Some families look for the device of such a part, and fail.
    """
    places = getattr(model, "hf_device_map", None) or {}
    is_aside = any(parameter.device.type == _EMPTY for parameter in model.parameters())
    parts = [f"{name or 'all'} on {place}" for name, place in places.items() if str(place) in _STORES]
    if not is_aside or not parts:
        return None
    more = f" and {len(parts) - 1} further parts" if len(parts) > 1 else ""
    return f"Some of it is kept aside ({parts[0]}{more}), which this family does not take: {ROOM}"
