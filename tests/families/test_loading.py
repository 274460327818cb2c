"""What a checkpoint needs that this machine cannot do is refused before its weights are read."""

import pytest
from questions import vision

from egobench_tasks.errors import InputError


def test_quantization_that_this_machine_cannot_do_is_refused_before_the_weights(family, monkeypatch):
    from egobench_tasks.hosts.lighteval.vision import model as module

    monkeypatch.setattr(module, "load_model", lambda *_: pytest.fail("weights were read"))
    for quantization in ("4bit", "8bit", "{quant_method: gptq}", "{quant_method: nonsense}"):
        with pytest.raises(InputError, match="quantization") as error:
            vision(family("idefics3"), f"quantization={quantization}")
        assert "\n" not in str(error.value)
