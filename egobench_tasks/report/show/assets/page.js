// Tables sort by a click on a column's head: numbers downward first, text upward; what has no value comes last.
// Where published figures do not compare with the runs (data-apart), no number ranks them among these.
// A button copies what the link beside it downloads.
"use strict";
const contentOf = (link) => {
  const bytes = Uint8Array.from(atob(link.href.split("base64,")[1]), (character) => character.charCodeAt(0));
  return new TextDecoder().decode(bytes);
};
const copy = async (text) => {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = document.body.appendChild(document.createElement("textarea"));
  area.value = text;
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  if (!done) throw new Error("not copied");
};
for (const button of document.querySelectorAll("button.copy")) {
  const title = button.textContent;
  button.addEventListener("click", async () => {
    const link = button.closest("article").querySelector(`a.${button.dataset.copies}`);
    button.textContent = await copy(contentOf(link)).then(() => "Copied", () => "Not copied: use the link");
    setTimeout(() => { button.textContent = title; }, 2000);
  });
}
for (const table of document.querySelectorAll("table")) {
  const heads = [...table.tHead.rows[0].cells];
  const body = table.tBodies[0];
  const value = (row, index) => {
    const cell = row.cells[index];
    return "number" in cell.dataset ? Number(cell.dataset.number) : cell.textContent.trim();
  };
  const isEmpty = (value) => value === "–" || value === "";
  heads.forEach((head, index) => {
    head.querySelector("button").addEventListener("click", () => {
      const rows = [...body.rows];
      const numeric = rows.some((row) => typeof value(row, index) === "number");
      const before = head.getAttribute("aria-sort");
      const ascending = before ? before === "descending" : !numeric;
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", ascending ? "ascending" : "descending");
      const text = new Intl.Collator("en", { numeric: true });
      const below = (row) => numeric && "apart" in table.dataset && row.classList.contains("published");
      rows.sort((one, other) => {
        if (below(one) !== below(other)) return below(one) - below(other);
        const [a, b] = [value(one, index), value(other, index)];
        if (isEmpty(a) || isEmpty(b)) return isEmpty(a) - isEmpty(b);
        const order = numeric ? a - b : text.compare(a, b);
        return ascending ? order : -order;
      });
      body.append(...rows);
    });
  });
}
