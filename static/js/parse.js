/** A section's lines light up with its row in the list and back; keys to the messages around, and for strict mode. */
import { onKey } from "./keys.js";

function light(event, on) {
  const place = event.target.closest?.("[data-for], [data-range]");
  if (!place) return;
  const range = place.dataset.for ?? place.dataset.range;
  for (const each of document.querySelectorAll(`[data-range="${range}"], [data-for="${range}"]`)) each.toggleAttribute("data-lit", on);
}

for (const [event, on] of [
  ["pointerover", true],
  ["pointerout", false],
  ["focusin", true],
  ["focusout", false],
]) {
  document.addEventListener(event, (happened) => light(happened, on));
}

const follow = (step) => document.querySelector(`[data-step=${step}]`)?.click() ?? undefined;
onKey("j", () => follow("next"));
onKey("k", () => follow("previous"));
onKey("t", () => document.querySelector("[data-strict]")?.click());
