/** The redact page: settings of a policy open with it, and keys go from group to group and through a group's examples. */
import { onKey } from "./keys.js";

for (const radio of document.querySelectorAll('[name="policy"]')) {
  radio.addEventListener("change", () => document.querySelector(`[data-of-policy="${radio.value}"]`)?.setAttribute("open", ""));
}

/** The group behind or before the one with the focus. */
function step(by) {
  const groups = [...document.querySelectorAll(".group-fold")];
  const here = groups.indexOf(document.activeElement.closest(".equal-group")?.querySelector(".group-fold"));
  const next = groups[here < 0 && by < 0 ? groups.length - 1 : here + by];
  if (!next) return false;
  next.focus();
}

/** Presses a button of the open group; the arrow keys of radio buttons stay theirs. */
function press(button) {
  if (!document.activeElement.closest(".equal-group") || !button || button.disabled) return false;
  button.click();
}

onKey("]", () => step(1));
onKey("[", () => step(-1));
onKey("o", () => press(document.activeElement.closest(".equal-group")?.querySelector(".group-fold")));
onKey("ArrowRight", () => press(document.querySelector("#example-after")));
onKey("ArrowLeft", () => press(document.querySelector("#example-before")));
