/** Edits in place, the steps of the draft, and a file that grows. */
import { announce } from "../status.js";
import { send } from "./fragments.js";
import { base, content, current, get, pane, review, rows, shown } from "./page.js";
import { rowOf } from "./paths.js";
import { RowEditor } from "./row_editor.js";

export const editor = new RowEditor({ rows, applied: showDraft });

/** What takes back what was just done. */
const OFFERS = { undo: { action: "undo", text: "Undo", key: "z" }, redo: { action: "redo", text: "Redo", key: "Shift Z" } };

/** Whether the line of a row can be seen. */
const isInView = (row) => {
  const [view, { top }] = [pane.getBoundingClientRect(), row.getBoundingClientRect()];
  return top >= view.top && top < view.bottom - 40;
};

/** What the draft holds now, and what was just done to it. */
async function showDraft(strip, offer = OFFERS.undo) {
  const { base, path, said } = strip.dataset;
  if (base !== pane.dataset.base) {
    shown.home = base;
    shown.earlier.clear();
  }
  review.leave();
  await content.show(base, path);
  for (const old of rows.list.querySelectorAll("[data-edited]")) delete old.dataset.edited;
  const row = path && rows.find(rowOf(path));
  if (row && "changed" in row.dataset && offer === OFFERS.undo) row.dataset.edited = "";
  if (row && !isInView(row)) row.scrollIntoView({ block: "start" });
  const button = get(`[data-action=${offer.action}]:not(:disabled)`);
  announce(said, button && { ...offer, press: () => button.click() });
}

// ---- the file of the chain has grown ----
const isBusy = () => get("[data-draft-strip]") || editor.form?.isConnected || get("[data-composer-place] form");
document.addEventListener("chain:grew", async (event) => {
  if (isBusy()) return; // the head says that there is a newer version
  event.preventDefault();
  const before = rows.messages;
  shown.earlier.add(base());
  await content.grow(event.detail.base);
  const count = rows.messages - before;
  if (count > 0) announce(`${count.toLocaleString("en")} new message${count === 1 ? "" : "s"}.`);
});

// what is saved opens where the reader is
document.addEventListener("submit", ({ target }) => {
  const place = target.querySelector(":scope > [data-at]");
  if (place) place.value = current.path ?? "";
});

document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (!form.matches("[data-draft-strip] form") || !form.querySelector("[data-action=undo], [data-action=redo]")) return;
  event.preventDefault();
  const answer = await send(form, event.submitter);
  const strip = answer?.content.querySelector("[data-draft-strip]");
  if (strip) showDraft(strip, form.querySelector("[data-action=undo]") ? OFFERS.redo : OFFERS.undo);
  else if (answer) location.reload(); // the draft was saved or discarded elsewhere
});
