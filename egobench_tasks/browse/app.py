"""The Gradio layer: filters and a list on the left, a question on the right. It reads and shows, and that is all."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import gradio as gr

from egobench_tasks.browse.catalogue import (
    FACETS,
    Entry,
    Filters,
    facet_values,
    matching,
    neighbour,
    page_of,
    verdict_values,
)
from egobench_tasks.browse.html import Beside, behaviour, list_html, message_html, question_html, strips_html
from egobench_tasks.browse.library import Library
from egobench_tasks.browse.strips import decode_strips
from egobench_tasks.frames.store import FrameStore
from egobench_tasks.report.analyse.terms import in_words

_ALL = ("all", "")
_DECODING = "Decoding the frames that a model sees …"
_SHOWN = 'watch("value", () => document.dispatchEvent(new Event("eb-shown")));'


def clip_url(path: str) -> str:
    """The address of a clip, which Gradio serves from its allowed folders alone."""
    return f"/gradio_api/file={quote(path)}"


Name = tuple[str, bool]
"""What a menu filters by: a facet or a run, and whether it is a run."""

Opened = tuple[str | None, str, str, str]
"""The id of the question on show, the probe that shows it (empty for none), its HTML, and what stands for its frames
until they are decoded."""


@dataclass(frozen=True, slots=True)
class _Events:
    """What happens on a visit or a click. ``names`` belong to the menus, in their order; what is ``chosen`` is the
    words searched for and then the menus' values."""

    library: Library
    store: FrameStore
    names: Sequence[Name]
    beside: Beside

    def matching(self, chosen: Sequence[str]) -> list[Entry]:
        words, *values = chosen
        return matching(self.library.entries, _filters(self.names, values, words))

    def show_list(self, question_id: str | None, *chosen: str) -> str:
        return self._list(self.matching(chosen), question_id, None)

    def show_page(self, event: gr.EventData, question_id: str | None, *chosen: str) -> str:
        return self._list(self.matching(chosen), question_id, int(event.page))

    def open_linked(self, request: gr.Request) -> Opened:
        return self._open(request.query_params.get("question"), request.query_params.get("probe", ""))

    def open_clicked(self, event: gr.EventData, question_id: str | None, *chosen: str) -> tuple[Any, ...]:
        """Open the question named, or the one so many steps on; the list moves where another page of it holds it."""
        entries, data = self.matching(chosen), event._data
        if "step" in data:
            opened = self._open(neighbour(entries, question_id, int(data["step"])))
        else:
            opened = self._open(data.get("question"), str(data.get("probe") or ""))
        if page_of(entries, opened[0]) == page_of(entries, question_id):
            return *opened, gr.skip()
        return *opened, self._list(entries, opened[0], None)

    def show_strips(self, question_id: str | None, probe: str) -> str:
        page = None if question_id is None else self.library.page(question_id, probe)
        return "" if page is None else strips_html(page, decode_strips(page, self.store))

    def _list(self, entries: Sequence[Entry], question_id: str | None, page: int | None) -> str:
        return list_html(entries, self.library.runs, len(self.library.entries), question_id, page, self.beside)

    def _open(self, question_id: str | None, probe: str = "") -> Opened:
        if question_id is None:
            question_id = next((entry.question_id for entry in self.library.entries), None)
        page = None if question_id is None else self.library.page(question_id, probe)
        if question_id is None or page is None:
            by = f" that the probe {probe} applies to" if probe else ""
            return None, "", message_html(f"There is no question {question_id}{by} in this dataset."), ""
        shown = question_html(page, clip_url, self.library.folders)
        return question_id, probe, shown, message_html(_DECODING)


def build_app(library: Library, store: FrameStore, report_url: str | None = None) -> gr.Blocks:
    """Lay out the page and say what happens on a visit and a click. ``report_url``: of the runs' report."""
    with gr.Blocks(title=f"{library.title}: browse", analytics_enabled=False, fill_width=True) as app:
        selected, probe = gr.State(None), gr.State("")
        with gr.Row(equal_height=False):
            with gr.Column(scale=1, min_width=320, elem_id="eb-side"):
                search = gr.Textbox(
                    label="Search",
                    placeholder="words of question and options, or an id",
                    max_lines=1,
                    elem_id="eb-search",
                )
                names, menus = _filter_row(library)
                listed = gr.HTML(js_on_load=behaviour(), apply_default_css=False, elem_classes="eb-pane")
            with gr.Column(scale=3, min_width=480, elem_id="eb-main"):
                question = gr.HTML(js_on_load=_SHOWN, apply_default_css=False)
                strips = gr.HTML(js_on_load=None, apply_default_css=False)

        events = _Events(library, store, names, Beside(library.folders, report_url))
        opened, inputs = [selected, probe, question, strips], [selected, search, *menus]
        linked = app.load(events.open_linked, None, opened, api_visibility="private")
        linked.then(events.show_list, inputs, listed, api_visibility="private")
        linked.then(events.show_strips, [selected, probe], strips, api_visibility="private")
        # The last of several quick ones counts.
        last: dict[str, Any] = {"api_visibility": "private", "trigger_mode": "always_last"}
        clicked = listed.click(events.open_clicked, inputs, [*opened, listed], **last)
        clicked.then(events.show_strips, [selected, probe], strips, api_visibility="private")
        listed.select(events.show_page, inputs, listed, **last)
        gr.on([search.input, *(menu.change for menu in menus)], events.show_list, inputs, listed, **last)
    return app


def _filter_row(library: Library) -> tuple[list[Name], list[gr.Dropdown]]:
    """Make a menu for every facet with a choice and every run; return what each filters by."""
    names, menus = [], []
    with gr.Row(elem_id="eb-filters"):
        for facet, title in FACETS.items():
            values = facet_values(library.entries, facet)
            if len(values) > 1:
                names.append((facet, False))
                menus.append(_menu(title, values))
        for run in library.runs:
            names.append((run, True))
            menus.append(_menu(run, verdict_values(library.entries, run)))
    return names, menus


def _menu(label: str, values: Sequence[str]) -> gr.Dropdown:
    return gr.Dropdown([_ALL, *((in_words(value), value) for value in values)], value="", label=label, min_width=150)


def _filters(names: Sequence[Name], chosen: Sequence[str], words: str) -> Filters:
    picked = [(name, is_run, value) for (name, is_run), value in zip(names, chosen, strict=True) if value]
    return Filters(
        facets={name: value for name, is_run, value in picked if not is_run},
        verdicts={name: value for name, is_run, value in picked if is_run},
        words=words,
    )
