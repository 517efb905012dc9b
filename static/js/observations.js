/** Keys on the page of observations: from result to result, to the next error, to the call. */
import { onKey } from "./keys.js";

const cards = () => [...document.querySelectorAll(".obs-cards > .tool-call")];
const errors = () => cards().filter((card) => card.dataset.state === "problem");

/** The card behind or before the one with the focus, or the one nearest to the top of the window. */
function step(among, by) {
  const all = cards();
  if (!among.length) return false;
  const focused = all.indexOf(document.activeElement.closest(".obs-cards > .tool-call"));
  const here = focused >= 0 ? focused : all.findIndex((card) => card.getBoundingClientRect().top > 0) - (by > 0 ? 1 : 0);
  const places = among.map((card) => all.indexOf(card));
  const place = by > 0 ? places.find((each) => each > here) : places.findLast((each) => each < here);
  (all[place] ?? among.at(by > 0 ? -1 : 0)).focus();
}

onKey("j", () => step(cards(), 1));
onKey("k", () => step(cards(), -1));
onKey("]", () => step(errors(), 1));
onKey("[", () => step(errors(), -1));
onKey("c", () => document.activeElement.closest(".obs-cards > .tool-call")?.querySelector("[data-call]")?.click() ?? undefined);

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-step-error]");
  if (button) step(errors(), Number(button.dataset.stepError));
});
