"""A page in Gradio: the clips of a question beside a form on it. What a click or a key says goes to a desk, which
answers with what to show; the desk keeps everything, the page nothing."""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import gradio as gr

from egobench_tasks.errors import InputError, machine_trouble

_ASSETS = Path(__file__).parent / "assets"


@dataclass(frozen=True, slots=True)
class View:
    """What is to be seen: the clips' HTML and the form's. ``question_id`` tells whose clips they are: while it stays,
    the clips stay as they are, playing or not."""

    question_id: str
    clips: str
    form: str


class Desk(Protocol):
    """What stands behind a page. Both are called from several threads, one at a time."""

    title: str

    def open(self, query: Mapping[str, str]) -> View:
        """Return what an address opens, by the names and values in it."""

    def act(self, message: Mapping[str, Any]) -> View:
        """Take one message of the page's and return what is to be seen then.

        A message has ``do`` and what belongs to it, all as strings, and of the form it was sent from: ``question``
        (its id), ``place`` (its address), ``fields`` (lists of texts by name) and ``seconds`` (how long the question
        was to be seen). It comes from outside: nothing in it is to be trusted.
        """


def build_page(desk: Desk) -> gr.Blocks:
    """Lay out the page and connect it with its desk."""
    with gr.Blocks(title=desk.title, analytics_enabled=False, fill_width=True) as app, gr.Row(elem_id="em-main"):
        with gr.Column(scale=1, min_width=320, elem_id="em-side"):
            clips = gr.HTML(js_on_load=_asset("clips.js"), apply_default_css=False, elem_id="em-clips")
        with gr.Column(scale=1, min_width=320):
            form = gr.HTML(js_on_load=_asset("page.js"), apply_default_css=False, elem_id="em-form")

        # The page waits for its form to change: two that are alike would leave it waiting.
        serial = itertools.count()

        def told(view: View) -> str:
            return f"{view.form}<!-- {next(serial)} -->"

        def opened(request: gr.Request) -> tuple[Any, Any]:
            view = desk.open(dict(request.query_params))
            return view.clips, told(view)

        def acted(event: gr.EventData) -> tuple[Any, Any]:
            message = event.message
            view = desk.act(message)
            return gr.skip() if view.question_id == message.get("question") else view.clips, told(view)

        hidden: Any = {"api_visibility": "private", "show_progress": "hidden"}
        app.load(opened, None, [clips, form], **hidden)
        form.click(acted, None, [clips, form], trigger_mode="multiple", concurrency_id="desk", **hidden)
    return app


def refusal(error: InputError | OSError) -> str:
    """What a page says of a message that was not taken: why, and what to do; a full disk must not pass for a saved
    decision."""
    trouble = machine_trouble(error) if isinstance(error, OSError) else None
    return str(error) if isinstance(error, InputError) else f"NOT SAVED: {trouble or error}"


def style() -> str:
    """The style sheet of every page."""
    return _asset("page.css")


def _asset(name: str) -> str:
    return (_ASSETS / name).read_text(encoding="utf-8")
