"""The Gradio layer: filters and a list on the left, a question on the right. It reads and shows, and that is all."""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote

import gradio as gr

from egobench_tasks.browse.catalogue import FACETS, Filters, facet_values, matching, verdict_values
from egobench_tasks.browse.html import list_html, message_html, question_html, strips_html
from egobench_tasks.browse.library import Library
from egobench_tasks.browse.strips import decode_strips
from egobench_tasks.frames.store import FrameStore

_ALL = ("all", "")
_WELCOME = "Choose a question in the list."
_DECODING = "Decoding the frames that a model sees …"
# Plain clicks open a question in place and leave its address in the address bar; others follow the link.
_OPEN_IN_PLACE = """
watch("value", () => element.querySelector(".eb-selected")?.scrollIntoView({ block: "nearest" }));
element.addEventListener("click", (event) => {
  const link = event.target.closest("a.eb-entry");
  if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  element.querySelectorAll(".eb-selected").forEach((entry) => entry.classList.remove("eb-selected"));
  link.classList.add("eb-selected");
  history.replaceState(null, "", link.getAttribute("href"));
  window.scrollTo({ top: 0 });
  trigger("click", { question: link.dataset.question });
});
"""


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
    """What happens on a visit or a click. ``names`` belong to the menus, in their order."""

    library: Library
    store: FrameStore
    names: Sequence[Name]

    def show_list(self, question_id: str | None, *chosen: str) -> str:
        entries = matching(self.library.entries, _filters(self.names, chosen))
        return list_html(entries, self.library.runs, len(self.library.entries), question_id)

    def open_linked(self, request: gr.Request) -> Opened:
        return self._open(request.query_params.get("question"), request.query_params.get("probe", ""))

    def open_clicked(self, event: gr.EventData) -> Opened:
        return self._open(event.question)

    def show_strips(self, question_id: str | None, probe: str) -> str:
        page = None if question_id is None else self.library.page(question_id, probe)
        return "" if page is None else strips_html(page, decode_strips(page, self.store))

    def _open(self, question_id: str | None, probe: str = "") -> Opened:
        if question_id is None:
            return None, "", message_html(_WELCOME), ""
        page = self.library.page(question_id, probe)
        if page is None:
            by = f" that the probe {probe} applies to" if probe else ""
            return None, "", message_html(f"There is no question {question_id}{by} in this dataset."), ""
        return question_id, probe, question_html(page, clip_url), message_html(_DECODING)


def build_app(library: Library, store: FrameStore) -> gr.Blocks:
    """Lay out the page and say what happens on a visit and a click."""
    with gr.Blocks(title=f"{library.title}: browse", analytics_enabled=False, fill_width=True) as app:
        selected, probe = gr.State(None), gr.State("")
        with gr.Row(equal_height=False):
            with gr.Column(scale=1, min_width=320, elem_id="eb-side"):
                names, menus = _filter_row(library)
                listed = gr.HTML(js_on_load=_OPEN_IN_PLACE, apply_default_css=False, elem_classes="eb-pane")
            with gr.Column(scale=3, min_width=480):
                question = gr.HTML(message_html(_WELCOME), js_on_load=None, apply_default_css=False)
                strips = gr.HTML(js_on_load=None, apply_default_css=False)

        events = _Events(library, store, names)
        opened, inputs = [selected, probe, question, strips], [selected, *menus]
        linked = app.load(events.open_linked, None, opened, api_visibility="private")
        linked.then(events.show_list, inputs, listed, api_visibility="private")
        linked.then(events.show_strips, [selected, probe], strips, api_visibility="private")
        clicked = listed.click(events.open_clicked, None, opened, api_visibility="private")
        clicked.then(events.show_strips, [selected, probe], strips, api_visibility="private")
        if menus:
            gr.on([menu.change for menu in menus], events.show_list, inputs, listed, api_visibility="private")
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
    return gr.Dropdown([_ALL, *((value, value) for value in values)], value="", label=label, min_width=150)


def _filters(names: Sequence[Name], chosen: Sequence[str]) -> Filters:
    picked = [(name, is_run, value) for (name, is_run), value in zip(names, chosen, strict=True) if value]
    return Filters(
        facets={name: value for name, is_run, value in picked if not is_run},
        verdicts={name: value for name, is_run, value in picked if is_run},
    )
