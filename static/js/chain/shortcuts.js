/** The keys of the explorer page. */
import { focusField } from "../focus_field.js";
import { onKey } from "../keys.js";
import { announce } from "../status.js";
import { composer, nextThread } from "./commenting.js";
import { goToEnd, goToProblem } from "./going.js";
import { actions, current, get, nodes, review } from "./page.js";
import { isRun } from "./paths.js";
import { openOrFoldAll } from "./reading.js";

const toggle = (open) => current.row && nodes.setOpen(current.row, open);
/** A run stands for many pairs: what is done to one node is refused there, with the way to choose it. */
const onNode = (act) => () =>
  current.row && isRun(current.row) ? announce("This row contains several pairs. Expand it with → first, then choose one.") : act();
const press = (action) => onNode(() => actions.isConnected && actions.querySelector(`[data-action=${action}]:not([hidden])`)?.click());
onKey("j", () => current.step(1));
onKey("k", () => current.step(-1));
for (const key of ["l", "ArrowRight"]) onKey(key, () => toggle(true));
for (const key of ["h", "ArrowLeft"]) onKey(key, () => toggle(false));
onKey("o", openOrFoldAll);
onKey("]", () => goToProblem("next"));
onKey("[", () => goToProblem("previous"));
onKey("#", () => focusField(get("[data-goto] input")));
onKey("Home", () => goToEnd("first"));
onKey("End", () => goToEnd("last"));
onKey("e", press("edit"));
onKey(
  "c",
  onNode(() => composer.open()),
);
onKey("v", () => review.viewed());
onKey("f", () => review.finish());
if (get("[data-review-panel]")) {
  onKey("n", () => nextThread("next"));
  onKey("p", () => nextThread("previous"));
}
onKey("y", press("copy"));
onKey("g e", () => goToEnd("first"));
onKey("g v", () => get("[data-versions]") && location.assign(get("[data-versions]").href));
