"""A request's JSON in pieces says what the library's would."""

import base64
import json

from hypothesis import given
from hypothesis import strategies as st

from egobench_tasks.servers.body import _PIECE_BYTES, Body, DataUri

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(st.characters(codec=None)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5) | st.integers(), inner, max_size=3),
    max_leaves=8,
)
PICTURES = st.binary(max_size=30).map(lambda data: DataUri("data:image/jpeg;base64," + base64.b64encode(data).decode()))
PARTS = st.fixed_dictionaries({"type": st.just("image_url"), "image_url": st.fixed_dictionaries({"url": PICTURES})})
TEXTS = st.fixed_dictionaries({"type": st.just("text"), "text": st.text(st.characters(codec=None))})
CONTENTS = st.text() | st.lists(PARTS | TEXTS, max_size=4)
MESSAGES = st.lists(st.fixed_dictionaries({"role": st.text(), "content": CONTENTS}), max_size=3)


@given(st.dictionaries(st.text() | st.integers(), VALUES, max_size=4), MESSAGES)
def test_the_pieces_are_the_librarys_json_and_their_length_is_known(fields, messages):
    request = {**fields, "messages": messages}
    body = Body(request)
    data = b"".join(body.pieces())
    assert json.loads(data) == json.loads(json.dumps(request))
    assert (body.n_bytes, b"".join(body.pieces())) == (len(data), data)


def test_megabytes_of_frames_go_out_in_bounded_pieces():
    picture = DataUri("data:image/jpeg;base64," + "A" * 50_000)
    part = {"type": "image_url", "image_url": {"url": picture}}
    pieces = list(Body({"model": "m", "messages": [{"role": "user", "content": [part] * 64}]}).pieces())
    assert sum(map(len, pieces)) > 3_000_000
    assert max(map(len, pieces)) < _PIECE_BYTES + len(picture) and len(pieces) < 16
