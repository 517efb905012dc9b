/** The explorer page: puts its parts together and gives them their keys. */
import { onKey } from "../keys.js";
import { announce } from "../status.js";
import "./bytes.js";
import { Composer } from "./composer.js";
import { Content } from "./content.js";
import { Current } from "./current.js";
import { Find } from "./find.js";
import { Fold } from "./fold.js";
import { fragment, send } from "./fragments.js";
import { Minimap } from "./minimap.js";
import { Nodes, isOpen, isSection, widen, wrap } from "./nodes.js";
import { closeDrawers } from "./panes.js";
import { ReviewPanel } from "./review_panel.js";
import { RowEditor } from "./row_editor.js";
import { Sight } from "./sight.js";
import { isRun, rowOf } from "./paths.js";
import { RowWindow } from "./window.js";

const TEXT = "chainviz-text";
const get = (selector) => document.querySelector(selector);
const pane = get("[data-chain-pane]");
const base = () => pane.dataset.base; // another one once a draft is begun
const fold = new Fold(new URLSearchParams(location.search));
const minimap = get("[data-minimap]") && new Minimap(get("[data-minimap]"));

let written = pane.dataset.text === "plain" || localStorage.getItem(TEXT) === "plain";
const text = (address) => (written ? address + (address.includes("?") ? "&" : "?") + "text=plain" : address);

const rowsAddress = (base, query) => text(`${base}rows?${query}${fold.query()}`);

const rows = new RowWindow({
  box: pane,
  list: get("[data-rows]"),
  address: (query) => rowsAddress(base(), query),
  rowHeight: 35,
  most: 360,
  step: 14,
  see: (path) => fold.see(path),
  changed: () => {
    const inSight = rows?.visible() ?? [];
    minimap?.view(inSight);
    sight.follow(inSight);
    current?.restore();
    if (find?.word) find.mark();
    review?.follow();
  },
});
const outline = new RowWindow({
  box: get("[data-outline-box]"),
  list: get("[data-outline]"),
  address: (query) => `${base()}outline?${query}`,
  rowHeight: 27,
  most: 110,
  step: 30,
  changed: () => {
    outline?.find(current?.path)?.setAttribute("aria-current", "true");
    sight.mark();
  },
});
const sight = new Sight(outline);
const nodes = new Nodes({ rows, fold, text });
const actions = get("[data-node-actions]");
const current = new Current({ pane, rows, outline, nodes, inspector: get("[data-inspector]"), actions, moved: () => review?.at() });
const find = new Find({ form: get("[data-find]"), current, nodes, minimap });
const content = new Content({ pane, rows, outline, current, fold, nodes, minimap, address: rowsAddress });
const review = new ReviewPanel({ tabs: get("[data-inspector-tabs]"), panel: get("[data-review-panel]"), details: get("[data-inspector]"), current, rows });
const composer = new Composer({ pane, rows, place: get("[data-composer-place]"), actions, current, added: showThread });
const editor = new RowEditor({ rows, applied: showDraft });

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
    home = base;
    earlier.clear();
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
const earlier = new Set(); // addresses of the versions that the page has shown
const isBusy = () => get("[data-draft-strip]") || editor.form?.isConnected || get("[data-composer-place] form");
document.addEventListener("chain:grew", async (event) => {
  if (isBusy()) return; // the head says that there is a newer version
  event.preventDefault();
  const before = rows.messages;
  earlier.add(base());
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
async function goToThread(path, number) {
  if (!(await current.go(path, { open: true, focus: false }))) return;
  if (openThread(`thread-${number}`) !== false) return;
  await current.inspect(true); // threads on a section stand there
  openThread(`thread-${number}`);
}
let lastThread = { row: "", number: 0 };
async function nextThread(direction) {
  const found = await review.step(direction, lastThread.row === current.path ? lastThread.number : 0);
  if (!found) return announce("There are no open threads.");
  await goToThread(found.path, found.number);
  lastThread = { row: rowOf(found.path), number: found.number };
}
document.addEventListener("click", (event) => {
  const link = event.target.closest(".anchor-link");
  if (link && isPlain(event) && openThread(link.hash.slice(1)) !== false) event.preventDefault();
});

const start = rows.find(pane.dataset.current);
if (start) {
  if (!isSection(start)) fold.set(start.dataset.path, true), fold.see(start.dataset.path);
  current.mark(start, false);
  const part = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
  const goal = part && start.contains(part) ? part : start;
  const view = pane.getBoundingClientRect();
  const top = goal.getBoundingClientRect().top;
  // in a frame of its own: scrolling together with a change of layout would count as a jump of the page
  const scroll = () => goal.scrollIntoView({ block: goal === start ? "start" : "center" });
  if (top < view.top || top > view.top + view.height * 0.7) requestAnimationFrame(() => requestAnimationFrame(scroll));
}

// ---- how text is shown ----
for (const button of document.querySelectorAll("[data-text-choice]")) {
  const plain = button.dataset.textChoice === "plain";
  button.setAttribute("aria-pressed", plain === written);
  button.addEventListener("click", (event) => {
    event.preventDefault();
    showText(plain);
  });
}
function showText(plain) {
  if (written === plain) return;
  written = plain;
  localStorage.setItem(TEXT, plain ? "plain" : "markdown");
  for (const button of document.querySelectorAll("[data-text-choice]")) button.setAttribute("aria-pressed", (button.dataset.textChoice === "plain") === plain);
  const place = rows.visible()[0]?.dataset.path;
  if (place) rows.replace(`around=${place}`, place);
}
if (written && pane.dataset.text !== "plain" && rows.rows.some((row) => row.querySelector(".node-body"))) {
  rows.replace(`around=${rows.rows[0].dataset.path}`, rows.rows[0].dataset.path);
}

// ---- open and fold all of a kind ----
async function setKind(kind, open) {
  const place = current.row ?? rows.visible().find((row) => !isSection(row)) ?? rows.rows[0];
  if (!place) return;
  fold.setKind(kind, open);
  const keep = kind === "section" && !open ? place.dataset.path.split(".")[0] : place.dataset.path;
  await rows.replace(`around=${keep}`, keep);
  announce(`${kind === "section" ? "Sections" : `All ${kind} nodes`} ${open ? "opened" : "folded"}.`);
}
async function openOrFoldAll() {
  const open = !fold.isAllOpen;
  fold.setAll(open);
  const place = current.row ?? rows.visible()[0];
  if (place) await rows.replace(`around=${place.dataset.path}`, place.dataset.path);
  announce(open ? "All nodes expanded." : "All nodes collapsed.");
}
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-fold-kind]");
  if (button) setKind(button.dataset.foldKind, button.dataset.foldOpen === "true");
  if (event.target.closest("[data-fold-all]")) openOrFoldAll();
});

// ---- clicks in the chain, the outline and the minimap ----
const isPlain = (event) => event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
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
  } else if (row && !row.hasAttribute("data-context") && !event.target.closest("form") && !getSelection().toString()) current.mark(row, false);
});
// ---- Back and Forward follow the jumps inside the chain ----
let home = location.pathname; // the address that the page was opened with may be that of the chain
addEventListener("popstate", () => {
  const isOwn = [base(), ...earlier].some((each) => location.pathname.startsWith(each));
  if (location.pathname !== home && !isOwn) return location.reload(); // the version before the draft
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
    sight.follow(rows.visible(), true);
  }
});
addEventListener("resize", () => current.inspect());

// ---- problems ----
let seen = { row: "", nth: "" }; // the problem the reader was led to
async function problem(dir) {
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
  problem(button.dataset.problemStep);
});

// ---- boxes that are filled when they are opened ----
document.addEventListener("toggle", async (event) => {
  const box = event.target;
  if (!box.matches?.("details[data-lazy]") || !box.open) return;
  const address = box.dataset.lazy;
  box.removeAttribute("data-lazy");
  const found = await fragment(address);
  if (found) box.querySelector("[data-lazy-body]").replaceChildren(found);
  else box.dataset.lazy = address;
}, true);
document.addEventListener("click", async (event) => {
  const more = event.target.closest("[data-lazy-body] [data-more]");
  if (!more || !isPlain(event)) return;
  event.preventDefault();
  nodes.more(more);
});

// ---- keys ----
const toggle = (open) => current.row && nodes.setOpen(current.row, open);
/** A run stands for many pairs: what is done to one node is refused there, with the way to choose it. */
const onNode = (act) => () => (current.row && isRun(current.row) ? announce("This row contains several pairs. Expand it with → first, then choose one.") : act());
const press = (action) => onNode(() => actions.isConnected && actions.querySelector(`[data-action=${action}]:not([hidden])`)?.click());
onKey("j", () => current.step(1));
onKey("k", () => current.step(-1));
for (const key of ["l", "ArrowRight"]) onKey(key, () => toggle(true));
for (const key of ["h", "ArrowLeft"]) onKey(key, () => toggle(false));
onKey("o", openOrFoldAll);
onKey("]", () => problem("next"));
onKey("[", () => problem("previous"));
onKey("/", () => {
  if (find.input.checkVisibility({ visibilityProperty: true })) return find.input.select(), find.input.focus();
  get("[data-drawer=outline]")?.click();
  requestAnimationFrame(() => find.input.focus());
});
onKey("e", press("edit"));
onKey("c", onNode(() => composer.open()));
onKey("v", () => review.viewed());
onKey("f", () => review.finish());
if (get("[data-review-panel]")) {
  onKey("n", () => nextThread("next"));
  onKey("p", () => nextThread("previous"));
}
document.addEventListener("click", (event) => {
  if (!event.target.closest("[data-review-link]") || !isPlain(event) || !review.panel) return;
  event.preventDefault();
  review.open();
});
onKey("y", press("copy"));
onKey("g e", () => rows.rows.length && current.go(rows.rows[0].dataset.path));
onKey("g v", () => get("[data-versions]") && location.assign(get("[data-versions]").href));
