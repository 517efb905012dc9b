/** The parts of the explorer page, which the modules of what a person does there share. */
import { Content } from "./content.js";
import { Current } from "./current.js";
import { Find } from "./find.js";
import { Fold } from "./fold.js";
import { Minimap } from "./minimap.js";
import { Nodes } from "./nodes.js";
import { ReviewPanel } from "./review_panel.js";
import { Sight } from "./sight.js";
import { RowWindow } from "./window.js";

export const TEXT = "chainviz-text";
export const get = (selector) => document.querySelector(selector);
export const pane = get("[data-chain-pane]");
export const base = () => pane.dataset.base; // another one once a draft is begun
export const fold = new Fold(new URLSearchParams(location.search));
const minimap = get("[data-minimap]") && new Minimap(get("[data-minimap]"));

export const reading = { isRaw: pane.dataset.text === "plain" || localStorage.getItem(TEXT) === "plain" };
const text = (address) => (reading.isRaw ? address + (address.includes("?") ? "&" : "?") + "text=plain" : address);

/** Addresses of the chain in this page: the one it was opened with, and those of the versions it has shown. */
export const shown = { home: location.pathname, earlier: new Set() };
export const isPlain = (event) => event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;

const rowsAddress = (base, query) => text(`${base}rows?${query}${fold.query()}`);

export const rows = new RowWindow({
  box: pane,
  list: get("[data-rows]"),
  address: (query) => rowsAddress(base(), query),
  rowHeight: 35,
  most: 360,
  step: 14,
  hasKeys: true,
  see: (path) => fold.see(path),
  changed: () => {
    const inSight = rows?.visible() ?? [];
    minimap?.view(inSight);
    sight.follow(inSight, rows?.anchor());
    current?.restore();
    if (find?.word) find.mark();
    review?.follow();
  },
});
export const outline = new RowWindow({
  box: get("[data-outline-box]"),
  list: get("[data-outline]"),
  address: (query) => `${base()}outline?${query}&section=${sight.section}${fold.query()}`,
  rowHeight: get(".outline-section + .outline-section") ? 32 : 27,
  most: 110,
  step: 30,
  changed: () => {
    outline?.find(current?.path)?.setAttribute("aria-current", "true");
    sight.mark();
  },
});
export const sight = new Sight(outline);
export const nodes = new Nodes({ rows, fold, text });
export const actions = get("[data-node-actions]");
export const current = new Current({
  pane,
  rows,
  outline,
  sight,
  nodes,
  inspector: get("[data-inspector]"),
  actions,
  moved: () => review?.at(),
});
export const find = new Find({ form: get("[data-find]"), current, nodes, minimap });
export const content = new Content({ pane, rows, outline, current, fold, nodes, minimap, address: rowsAddress });
export const review = new ReviewPanel({
  tabs: get("[data-inspector-tabs]"),
  panel: get("[data-review-panel]"),
  details: get("[data-inspector]"),
  current,
  rows,
});
