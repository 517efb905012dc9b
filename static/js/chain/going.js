/** Ways through the chain: clicks on rows, the outline and the minimap, Back and Forward, problems. */
import { announce } from "../status.js";
import { composer, goToThread } from "./commenting.js";
import { editor } from "./editing.js";
import { fragment } from "./fragments.js";
import { isOpen, isSection, widen, wrap } from "./nodes.js";
import { base, current, find, fold, get, isPlain, nodes, outline, pane, rows, shown, sight } from "./page.js";
import { closeDrawers } from "./panes.js";
import { isRun } from "./paths.js";

const start = rows.find(pane.dataset.current);
if (start) {
  if (!isSection(start)) (fold.set(start.dataset.path, true), fold.see(start.dataset.path));
  current.mark(start, false);
  const part = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
  const goal = part && start.contains(part) ? part : start;
  const view = pane.getBoundingClientRect();
  const top = goal.getBoundingClientRect().top;
  // in a frame of its own: scrolling together with a change of layout would count as a jump of the page
  const scroll = () => goal.scrollIntoView({ block: goal === start ? "start" : "center" });
  if (top < view.top || top > view.top + view.height * 0.7) requestAnimationFrame(() => requestAnimationFrame(scroll));
}

// ---- clicks in the chain, the outline and the minimap ----
rows.list.addEventListener("click", (event) => {
  if (!isPlain(event)) return;
  const line = event.target.closest(".node-line");
  const more = event.target.closest("[data-more]");
  const action = event.target.closest("[data-action]")?.dataset.action;
  const row = event.target.closest("[data-rows] > [data-path]");
  if (line) {
    event.preventDefault();
    const target = row.hasAttribute("data-context") ? null : row;
    if (!target) return void current.go(row.dataset.path);
    current.mark(target);
    nodes.setOpen(target, !isOpen(target));
  } else if (more) {
    event.preventDefault();
    nodes.more(more);
  } else if (action === "wrap") wrap(event.target.closest("[data-action]"));
  else if (action === "widen") {
    event.preventDefault();
    widen(event.target.closest("[data-action]"));
  } else if (action === "edit") {
    event.preventDefault();
    editor.open(row, event.target.closest("[data-action]").href);
  } else if (action === "comment") {
    event.preventDefault();
    composer.open();
  } else if (action === "copy") current.copy();
  else if (action === "link") {
    event.preventDefault();
    current.copyLink();
  } else if (row && !row.hasAttribute("data-context") && !event.target.closest("form") && !getSelection().toString())
    current.mark(row, false);
});
// ---- Back and Forward follow the jumps inside the chain ----
addEventListener("popstate", () => {
  const isOwn = [base(), ...shown.earlier].some((each) => location.pathname.startsWith(each));
  if (location.pathname !== shown.home && !isOwn) return location.reload(); // the version before the draft
  const path = /\/at\/([^/]+)$/.exec(location.pathname)?.[1];
  if (path) current.go(path, { isBack: true, focus: false });
  else pane.scrollTop = 0;
});

async function goToMessage(number) {
  await rows.replace(`near=${number}`);
  let row = rows.rows.find((each) => !isSection(each));
  if (row && isRun(row)) {
    fold.see(row.dataset.path);
    await rows.replace(`near=${number}`);
    row = rows.rows.find((each) => !isSection(each));
  }
  if (row) current.mark(row);
}
rows.list.addEventListener("node:opened", () => find.word && find.mark());
document.addEventListener("click", (event) => {
  if (!isPlain(event)) return;
  const link = event.target.closest("[data-outline] [data-path], :is([data-minimap], [data-inspector]) [data-at], [data-go]");
  if (!link) return;
  event.preventDefault();
  closeDrawers();
  const path = link.dataset.path ?? link.dataset.go;
  const thread = /^#thread-(\d+)$/.exec(link.hash ?? "")?.[1];
  if (thread) goToThread(path, thread);
  else if (path) current.go(path);
  else goToMessage(link.dataset.at);
});
document.addEventListener("pane:opened", (event) => {
  if (event.target.matches(".inspector")) current.inspect(true);
  else {
    outline.fill();
    sight.follow(rows.visible(), rows.anchor(), true);
  }
});
addEventListener("resize", () => current.inspect());

// ---- a message, a path or a call that somebody names ----
async function goTo(words) {
  const found = await fragment(`${base()}goto?${new URLSearchParams({ to: words })}`);
  const place = found?.querySelector("[data-path]");
  if (place) await current.go(place.dataset.path);
  return found;
}
export const goToEnd = (end) => void goTo(end);
const goto = get("[data-goto]");
goto.addEventListener("submit", async (event) => {
  event.preventDefault();
  const error = get("[data-goto-error]");
  const found = await goTo(goto.elements.to.value);
  error.textContent = found?.querySelector("[data-refusal]")?.textContent ?? "";
  error.hidden = !error.textContent;
  if (error.hidden) (closeDrawers(), goto.reset());
});
goto.addEventListener("click", (event) => {
  const link = event.target.closest("[data-go-end]");
  if (!link || !isPlain(event)) return;
  event.preventDefault();
  goToEnd(link.dataset.goEnd);
});

// ---- problems ----
let seen = { row: "", nth: "" }; // the problem the reader was led to
export async function goToProblem(dir) {
  if (!rows.rows.length) return;
  const at = current.row && isRun(current.row) ? current.row.previousElementSibling.dataset.path : current.path;
  const from = at || rows.visible()[0]?.dataset.path || "s1";
  const nth = seen.row === from ? `&nth=${seen.nth}` : "";
  const found = (await fragment(`${base()}problems/step?from=${from}&dir=${dir}${nth}`))?.querySelector("[data-problem]");
  if (!found) return;
  await current.go(found.dataset.path, { open: true });
  seen = { row: current.path, nth: found.dataset.nth };
  announce(found.textContent.trim());
}
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-problem-step]");
  if (!button || !isPlain(event)) return;
  event.preventDefault();
  button.closest("[popover]")?.hidePopover();
  closeDrawers();
  goToProblem(button.dataset.problemStep);
});
