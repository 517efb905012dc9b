/** The simulation page: keys choose a turn, a unit or a line. */
import { onKey } from "./keys.js";

/** Follows the link `by` places away from the chosen one. */
function follow(selector, by, around) {
  const links = [...document.querySelectorAll(selector)];
  const at = links.findIndex((link) => link.getAttribute("aria-current") === "true") + by;
  const next = links[around ? at % links.length : at];
  if (!next) return false;
  location.assign(next.getAttribute("href"));
}

onKey("ArrowLeft", () => follow(".turn-hit", -1));
onKey("ArrowRight", () => follow(".turn-hit", 1));
onKey("u", () => follow("[data-unit]", 1, true));
for (const key of ["2", "3", "4", "5"]) {
  onKey(key, () => {
    const field = document.querySelectorAll("[data-line]")[key - 2];
    if (!field?.checkVisibility()) return false;
    if (field.type === "checkbox") field.click();
    field.focus();
  });
}
