// Clicks and keys open a question in place and leave its address in the address bar, so that Back leads to the one
// before; clicks with a modifier follow the link. The server knows the list: steps and pages are asked of it.
const NARROW_PX = 900;
const side = () => document.querySelector("#eb-side");
const shown = () => document.querySelector(".eb-question");
const addressed = () => new URLSearchParams(location.search);
let awaited = null; // the id that a click or Back asked for, until it is on show
let moved = false; // whether a visitor asked for what comes next
const open = (question, probe) => {
  awaited = question;
  moved = true;
  trigger("click", { question, probe });
};
const step = (by) => {
  awaited = null;
  moved = true;
  trigger("click", { step: by });
};
const mark = () => {
  const id = shown()?.dataset.question;
  for (const entry of element.querySelectorAll("a.eb-entry")) {
    const isShown = entry.dataset.question === id;
    entry.classList.toggle("eb-selected", isShown);
    if (isShown) {
      entry.setAttribute("aria-current", "true");
      entry.scrollIntoView({ block: "nearest" });
    } else entry.removeAttribute("aria-current");
  }
};
watch("value", mark);
document.addEventListener("eb-shown", () => {
  const article = shown();
  if (!article) return;
  const id = article.dataset.question;
  if (awaited !== null && awaited !== id) return; // an answer to what was asked before
  awaited = null;
  mark();
  if (addressed().get("question") !== id) {
    const address = `?question=${encodeURIComponent(id)}`;
    if (moved) history.pushState(null, "", address);
    else history.replaceState(null, "", address);
  }
  if (!moved) return;
  moved = false;
  if (innerWidth <= NARROW_PX) article.scrollIntoView();
  else window.scrollTo({ top: 0 });
});
addEventListener("popstate", () => open(addressed().get("question"), addressed().get("probe") ?? ""));
element.addEventListener("click", (event) => {
  const page = event.target.closest("[data-page]");
  if (page) trigger("select", { page: Number(page.dataset.page) });
  if (event.target.closest(".eb-fold")) {
    const isOpen = side().classList.toggle("eb-filters-open");
    event.target.setAttribute("aria-expanded", String(isOpen));
  }
  const link = event.target.closest("a.eb-entry");
  if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  if (link.dataset.question !== addressed().get("question")) history.pushState(null, "", link.getAttribute("href"));
  open(link.dataset.question, "");
});
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-step]");
  if (button) step(Number(button.dataset.step));
});
// Keys belong to what has the focus where that takes or scrolls by them.
const STEPS = { j: 1, ArrowRight: 1, k: -1, ArrowLeft: -1 };
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in STEPS)) return;
  if (event.target.closest("input, textarea, select, video, ol, pre, [role=listbox], [contenteditable]")) return;
  event.preventDefault();
  step(STEPS[event.key]);
});
