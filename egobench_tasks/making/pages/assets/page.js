// The form's side of a page: keys, messages, words typed, the seconds a question was looked at.
// Gradio gives `element` (the form's place), `trigger` and `watch`. The server keeps all that counts; here is only
// what a reload may lose: which row and panel are chosen. Words not yet sent stay in the browser's own store.
const SLOW_MS = 4000;
const waiting = []; // one message at a time, so that they arrive in the order given
let sent = null, slow = 0, question = null, row = 0, panel = null, clip = 0, seenMs = 0, since = performance.now();

const form = () => element.querySelector("form.em");
const rows = () => [...element.querySelectorAll("[data-row]")];
const videos = () => [...document.querySelectorAll("#em-clips video")];
const isUsable = (one) => one.offsetParent !== null && !one.disabled;
const tell = (text, isBad) => {
  const place = element.querySelector(".em-told");
  if (place) { place.textContent = text; place.classList.toggle("em-bad", isBad); }
};

// Only the time in which the page could be seen counts.
const lookedMs = () => seenMs + (document.hidden ? 0 : performance.now() - since);
document.addEventListener("visibilitychange", () => {
  if (document.hidden) seenMs += performance.now() - since; else since = performance.now();
});

const fields = (now) => {
  const data = new FormData(now);
  return Object.fromEntries([...new Set(data.keys())].map((name) => [name, data.getAll(name)]));
};
const send = (said) => {
  const now = form();
  waiting.push({ ...said, question: now.dataset.question, place: now.dataset.address, fields: fields(now), seconds: lookedMs() / 1000 });
  sendNext();
};
const sendNext = () => {
  if (sent !== null || !waiting.length) return;
  sent = waiting.shift();
  tell("saving …", false);
  slow = setTimeout(() => tell("Not saved: the server does not answer. Start it again, then reload this page.", true), SLOW_MS);
  trigger("click", { message: sent });
};

const paint = () => {
  rows().forEach((one, index) => one.classList.toggle("em-current", index === row));
  element.querySelectorAll("[data-panel]").forEach((one) => { one.hidden = one.dataset.panel !== panel; });
  videos().forEach((one, index) => one.closest("figure").classList.toggle("em-current", index === clip));
};
const draftKey = (now) => `egobench ${now.dataset.draft}`;
const keepDraft = () => { const now = form(); if (now?.dataset.draft) localStorage.setItem(draftKey(now), JSON.stringify(fields(now))); };
const takeDraft = (now) => {
  if (now.dataset.forget) localStorage.removeItem(`egobench ${now.dataset.forget}`);
  const kept = now.dataset.draft && localStorage.getItem(draftKey(now));
  if (!kept) return;
  const values = JSON.parse(kept);
  for (const field of now.elements) {
    if (!field.name || field.type === "hidden") continue;
    const value = values[field.name] ?? [];
    if (field.type === "checkbox" || field.type === "radio") field.checked = value.includes(field.value);
    else if (value.length) field.value = value[0];
  }
};

const arrive = () => {
  clearTimeout(slow);
  sent = null;
  const now = form();
  if (!now) return;
  if (now.dataset.question !== question) {
    question = now.dataset.question;
    row = 0; panel = null; clip = 0; seenMs = 0; since = performance.now();
    window.scrollTo({ top: 0 });
  }
  if (now.dataset.open) panel = now.dataset.open;
  if (now.dataset.address) history.replaceState(null, "", now.dataset.address);
  now.reset(); // Gradio patches the page: what was ticked in the form before would stay ticked in this one
  takeDraft(now);
  paint();
  window.egobenchClips?.ahead(JSON.parse(now.dataset.ahead || "[]"));
  sendNext();
};
watch("value", arrive);

const act = (one) => {
  if (one.dataset.opens) { panel = panel === one.dataset.opens ? null : one.dataset.opens; paint(); element.querySelector(`[data-panel="${panel}"]`)?.scrollIntoView({ block: "nearest" }); }
  else if (one.dataset.span) markSpan(one.dataset.span);
  else if (one.dataset.do) {
    const { key, digit, ...said } = one.dataset;
    send(said);
    if (one.closest("[data-row]") && row + 1 < rows().length) { row = rows().indexOf(one.closest("[data-row]")) + 1; paint(); }
  } else one.click();
};
const markSpan = (end) => {
  const now = form(), video = videos()[clip];
  if (!video) return;
  now.elements.evidence_clip.value = String(clip);
  now.elements[`evidence_${end}`].value = video.currentTime.toFixed(1);
  keepDraft();
};
element.addEventListener("click", (event) => {
  const one = event.target.closest("button[data-do], button[data-opens], button[data-span]");
  if (one) { event.preventDefault(); act(one); one.blur(); }
});
element.addEventListener("input", keepDraft);
element.addEventListener("submit", (event) => event.preventDefault());

const step = (seconds) => { const video = videos()[clip]; if (video) video.currentTime = Math.max(0, video.currentTime + seconds); };
const PLAYER = {
  " ": () => { const video = videos()[clip]; if (video) { if (video.paused) video.play(); else video.pause(); } },
  ArrowLeft: () => step(-1), ArrowRight: () => step(1), "shift+ArrowLeft": () => step(-5), "shift+ArrowRight": () => step(5),
  ",": () => step(-1 / 30), ".": () => step(1 / 30),
  "[": () => { clip = Math.max(0, clip - 1); paint(); }, "]": () => { clip = Math.min(videos().length - 1, clip + 1); paint(); },
  ArrowUp: () => { row = Math.max(0, row - 1); paint(); }, ArrowDown: () => { row = Math.min(rows().length - 1, row + 1); paint(); },
  Escape: () => { panel = null; paint(); },
};
const find = (selector, within = element) => [...within.querySelectorAll(selector)].find(isUsable);
document.addEventListener("keydown", (event) => {
  if (!form() || event.isComposing || event.altKey) return;
  if (event.target.matches?.("button, video") && (event.key === "Enter" || event.key === " ")) return; // reached by Tab
  const isTyping = Boolean(event.target.matches?.("textarea, select, input:not([type=checkbox]):not([type=radio])"));
  const isCommand = event.ctrlKey || event.metaKey;
  if (isTyping && event.key === "Escape") return event.target.blur();
  if (isTyping !== isCommand) return;
  const name = (isCommand ? "ctrl+" : event.shiftKey && event.key.length > 1 ? "shift+" : "") + (event.key.length > 1 ? event.key : event.key.toLowerCase());
  const key = CSS.escape(name);
  const opened = panel && element.querySelector(`[data-panel="${panel}"]`);
  const current = rows()[row];
  const one = (opened && find(`[data-digit="${key}"]`, opened)) || (!opened && current && find(`[data-digit="${key}"]`, current)) || find(`[data-key="${key}"]`);
  if (!one && !(name in PLAYER)) return;
  event.preventDefault();
  if (one) act(one); else PLAYER[name]();
});
arrive();
