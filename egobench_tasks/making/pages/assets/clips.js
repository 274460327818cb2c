// The clips' side of a page: those of the next questions are fetched whole while this one is looked at, one after the
// other, so that they never hold up what the page itself asks for. Long videos are left to the player.
const MOST_BYTES = 64 * 2 ** 20;
const kept = new Map(); // address → address of the fetched copy, or a promise of it
let wanted = [], chain = Promise.resolve();

const fetched = async (url) => {
  if (!kept.has(url)) return;
  const stop = new AbortController();
  try {
    const answer = await fetch(url, { signal: stop.signal });
    if (!answer.ok || Number(answer.headers.get("content-length")) > MOST_BYTES) { stop.abort(); kept.delete(url); return; }
    const copy = URL.createObjectURL(await answer.blob());
    if (kept.has(url)) kept.set(url, copy); else URL.revokeObjectURL(copy);
  } catch { kept.delete(url); }
};
const plain = (address) => address.split("#")[0];
const shown = () => [...element.querySelectorAll("video")].map((video) => plain(video.dataset.src));
window.egobenchClips = {
  ahead(addresses) {
    wanted = addresses.map(plain);
    const needed = new Set([...wanted, ...shown()]);
    for (const [url, copy] of kept) if (!needed.has(url)) { kept.delete(url); if (typeof copy === "string") URL.revokeObjectURL(copy); }
    for (const url of wanted) if (!kept.has(url)) { kept.set(url, null); chain = chain.then(() => fetched(url)); }
  },
  isReady: (addresses) => addresses.map(plain).every((url) => typeof kept.get(url) === "string"),
};
const mount = () => {
  for (const video of element.querySelectorAll("video")) {
    const [url, part] = video.dataset.src.split("#"), copy = kept.get(url);
    video.src = (copy ?? url) + (part ? `#${part}` : "");
  }
};
watch("value", mount);
mount();
