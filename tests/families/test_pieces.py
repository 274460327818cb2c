"""Images of a batch made a question at a time: the same inputs, or the whole batch at once."""

import pytest
import torch
from questions import question, vision
from recipes import RECIPES

from egobench_tasks.hosts.lighteval.vision.pieces import ImageProcessorInPieces, process_in_pieces
from egobench_tasks.hosts.lighteval.vision.prepare import prepare


@pytest.mark.parametrize("name", ["gemma3", "idefics3"])
def test_a_batch_in_pieces_gives_the_inputs_of_the_whole(family, name):
    maker = vision(family(name), RECIPES[name].arguments).maker
    pieces = maker.processor.image_processor
    assert isinstance(pieces, ImageProcessorInPieces)
    for questions in ([question(), question((2, 3))], [question(), question((1, 1), n_words=30)]):
        made = prepare(maker, questions).inputs
        maker.processor.image_processor = pieces.whole
        whole = prepare(maker, questions).inputs
        maker.processor.image_processor = pieces
        assert set(made) == set(whole)
        assert all(torch.equal(made[key], whole[key]) for key in whole)


@pytest.mark.parametrize("spoil", ["order", "failure"])
def test_a_processor_whose_pieces_differ_works_on_the_whole(family, monkeypatch, spoil):
    """One that looks at other images of the batch, or cannot work without them."""
    whole_call = None

    def spoilt(self, images, *arguments, **options):
        made = whole_call(self, images, *arguments, **options)
        if len(images) == 1:
            if spoil == "failure":
                raise ValueError("one question alone")
            made["pixel_values"] = made["pixel_values"].flip(-1)
        return made

    model = vision(family("gemma3"), RECIPES["gemma3"].arguments)
    processor = model.maker.processor
    if isinstance(processor.image_processor, ImageProcessorInPieces):
        processor.image_processor = processor.image_processor.whole
    whole_call = type(processor.image_processor).__call__
    monkeypatch.setattr(type(processor.image_processor), "__call__", spoilt)
    assert not process_in_pieces(model.maker)
    assert not isinstance(processor.image_processor, ImageProcessorInPieces)
