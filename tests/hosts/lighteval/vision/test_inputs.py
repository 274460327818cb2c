"""Messages as a processor takes them: clips as videos with the times of their frames, numbers in the model's type."""

import io

import pytest
import torch
from PIL import Image
from transformers import BatchFeature
from transformers.video_utils import VideoMetadata

from egobench_tasks.asking.prompts import ClipFrames, Text
from egobench_tasks.frames.store import StoredClip
from egobench_tasks.hosts.lighteval.vision.inputs import cast, make_message, video_metadata
from egobench_tasks.hosts.lighteval.vision.prompt import Visual


def clip(*shades, times_s):
    jpegs = []
    for shade in shades:
        file = io.BytesIO()
        Image.new("RGB", (16, 16), (shade, shade, shade)).save(file, "JPEG")
        jpegs.append(file.getvalue())
    return StoredClip(tuple(jpegs), times_s, len(shades), None, "-")


SEGMENTS = (Text("Q"), Text("CLIP_1"), ClipFrames(1), Text("CLIP_0"), ClipFrames(0))
CLIPS = [clip(10, 20, times_s=(0.0, 1.5)), clip(90, times_s=(0.25,))]


def shades(images):
    return [image.getpixel((8, 8))[0] for image in images]


def test_frames_are_single_images_in_the_messages_order():
    message = make_message(SEGMENTS, CLIPS, Visual.IMAGE)
    assert message.parts == ("Q", "CLIP_1", Visual.IMAGE, "CLIP_0", Visual.IMAGE, Visual.IMAGE)
    assert shades(message.images) == pytest.approx([90, 10, 20], abs=3)
    assert (message.n_frames, message.videos) == (3, ())


def test_a_clip_is_one_video_with_the_same_frames_and_their_times():
    message = make_message(SEGMENTS, CLIPS, Visual.VIDEO)
    assert message.parts == ("Q", "CLIP_1", Visual.VIDEO, "CLIP_0", Visual.VIDEO)
    assert [times_s for _, times_s in message.videos] == [(0.25,), (0.0, 1.5)]
    assert shades([frame for frames, _ in message.videos for frame in frames]) == pytest.approx([90, 10, 20], abs=3)
    assert message.n_frames == 3


@pytest.mark.parametrize(
    ("times_s", "rate_fps"),
    [((0.0, 0.5, 1.0, 1.5), 2.0), ((10.0, 11.0, 12.0), 1.0), ((0.0,), 1.0), ((3.0, 1.0, 2.0), 1.0)],
)
def test_processors_learn_the_true_times_and_the_rate_of_the_frames(times_s, rate_fps):
    metadata = VideoMetadata(**video_metadata(times_s))
    assert metadata.timestamps == pytest.approx(times_s, abs=1e-3)
    if times_s[0] == 0:  # a clip that begins later is longer than its frames
        assert metadata.sampled_fps == pytest.approx(rate_fps, rel=0.01)


def test_numbers_are_cast_at_every_depth_and_integers_left():
    inputs = BatchFeature(
        {"input_ids": torch.tensor([1]), "pixel_values": [[torch.ones(1)], torch.ones(2)], "name": "x"}
    )
    made = cast(inputs, torch.bfloat16)
    assert made["input_ids"].dtype == torch.int64
    assert made["pixel_values"][0][0].dtype == made["pixel_values"][1].dtype == torch.bfloat16
    assert made["name"] == "x"
    assert cast(inputs, None) is inputs
