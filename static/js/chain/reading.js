/** How much is shown: Markdown or raw text, open and folded nodes, boxes that are filled when they are opened. */
import { announce } from "../status.js";
import { fragment } from "./fragments.js";
import { isSection } from "./nodes.js";
import { sectionOf } from "./paths.js";
import { TEXT, current, fold, isPlain, nodes, pane, reading, rows } from "./page.js";

// ---- how text is shown ----
for (const button of document.querySelectorAll("[data-text-choice]")) {
  const plain = button.dataset.textChoice === "plain";
  button.setAttribute("aria-pressed", plain === reading.isRaw);
  button.addEventListener("click", (event) => {
    event.preventDefault();
    showText(plain);
  });
}
function showText(plain) {
  if (reading.isRaw === plain) return;
  reading.isRaw = plain;
  localStorage.setItem(TEXT, plain ? "plain" : "markdown");
  for (const button of document.querySelectorAll("[data-text-choice]"))
    button.setAttribute("aria-pressed", (button.dataset.textChoice === "plain") === plain);
  const place = rows.visible()[0]?.dataset.path;
  if (place) rows.replace(`around=${place}`, place);
}
if (reading.isRaw && pane.dataset.text !== "plain" && rows.rows.some((row) => row.querySelector(".node-body"))) {
  rows.replace(`around=${rows.rows[0].dataset.path}`, rows.rows[0].dataset.path);
}

// ---- open and fold all of a kind ----
async function setKind(kind, open) {
  const place = current.row ?? rows.visible().find((row) => !isSection(row)) ?? rows.rows[0];
  if (!place) return;
  fold.setKind(kind, open);
  const keep = kind === "section" && !open ? sectionOf(place.dataset.path) : place.dataset.path;
  await rows.replace(`around=${keep}`, keep);
  announce(`${kind === "section" ? "Sections" : `All ${kind} nodes`} ${open ? "opened" : "folded"}.`);
}
export async function openOrFoldAll() {
  const open = !fold.isAllOpen;
  fold.setAll(open);
  const place = current.row ?? rows.visible()[0];
  if (place) await rows.replace(`around=${place.dataset.path}`, place.dataset.path);
  announce(open ? "All nodes expanded." : "All nodes collapsed.");
}
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-fold-kind] button");
  if (button) setKind(button.parentElement.dataset.foldKind, button.hasAttribute("data-expand"));
});

// ---- boxes that are filled when they are opened ----
document.addEventListener(
  "toggle",
  async (event) => {
    const box = event.target;
    if (!box.matches?.("details[data-lazy]") || !box.open) return;
    const address = box.dataset.lazy;
    box.removeAttribute("data-lazy");
    const found = await fragment(address);
    if (found) box.querySelector("[data-lazy-body]").replaceChildren(found);
    else box.dataset.lazy = address;
  },
  true,
);
document.addEventListener("click", async (event) => {
  const more = event.target.closest("[data-lazy-body] [data-more]");
  if (!more || !isPlain(event)) return;
  event.preventDefault();
  nodes.more(more);
});
