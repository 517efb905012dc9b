/** Comments: a new one, the threads in the rows, and the review beside the chain. */
import { announce } from "../status.js";
import { Composer } from "./composer.js";
import { actions, current, get, isPlain, pane, review, rows } from "./page.js";
import { closeDrawers } from "./panes.js";
import { rowOf } from "./paths.js";

export const composer = new Composer({ pane, rows, place: get("[data-composer-place]"), actions, current, added: showThread });

/** A thread that was just begun, in the row it is about. */
async function showThread(thread, path) {
  closeDrawers();
  await rows.replace(`around=${path}`, path);
  openThread(`thread-${thread.dataset.thread}`);
  announce("Comment added.");
}
function openThread(id) {
  const box = document.getElementById(id);
  if (!box) return false;
  if (box.matches("details")) box.open = true;
  box.querySelector("summary")?.focus({ preventScroll: true });
  box.scrollIntoView({ block: "nearest" });
}
export async function goToThread(path, number) {
  if (!(await current.go(path, { open: true, focus: false }))) return;
  if (openThread(`thread-${number}`) !== false) return;
  await current.inspect(true); // threads on a section stand there
  openThread(`thread-${number}`);
}
let lastThread = { row: "", number: 0 };
export async function nextThread(direction) {
  const found = await review.step(direction, lastThread.row === current.path ? lastThread.number : 0);
  if (!found) return announce("There are no open threads.");
  await goToThread(found.path, found.number);
  lastThread = { row: rowOf(found.path), number: found.number };
}
document.addEventListener("click", (event) => {
  const link = event.target.closest(".anchor-link");
  if (link && isPlain(event) && openThread(link.hash.slice(1)) !== false) event.preventDefault();
});

document.addEventListener("click", (event) => {
  if (!event.target.closest("[data-review-link]") || !isPlain(event) || !review.panel) return;
  event.preventDefault();
  event.target.closest("[popover]")?.hidePopover();
  review.open();
});
