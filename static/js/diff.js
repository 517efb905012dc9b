/** Changes: split or unified ([data-layout-button], key u), and walking from change to change ([data-change-step], keys ] and [).
    The strip of two chains ([data-strip]) is one stop for the tab key; arrows lead from difference to difference. */
import { onKey } from "./keys.js";

const KEY = "chainviz-diff-layout";
const buttons = [...document.querySelectorAll("[data-layout-button]")];
const stops = () => [...document.querySelectorAll("[data-change-stop]")];

function lay(layout) {
  for (const diff of document.querySelectorAll(".diff")) diff.dataset.layout = layout;
  for (const each of buttons) each.setAttribute("aria-pressed", each.dataset.layoutButton === layout);
}

function choose(layout) {
  lay(layout);
  try {
    localStorage.setItem(KEY, layout);
  } catch {
    // storage is switched off: the choice holds for this page
  }
}

function goTo(change) {
  document.querySelector("[data-change-stop][aria-current]")?.removeAttribute("aria-current");
  change.setAttribute("aria-current", "true");
  change.scrollIntoView({ block: "start" });
  change.focus({ preventScroll: true });
}

/** Beyond the last change of this page lies the next page. */
function step(by) {
  const all = stops();
  const current = document.querySelector("[data-change-stop][aria-current]") ?? document.querySelector("[data-change-stop]:target");
  const next = current ? all[all.indexOf(current) + by] : by > 0 ? all[0] : all.at(-1);
  if (next) return goTo(next);
  document.querySelector(`.diff > [rel=${by > 0 ? "next" : "prev"}]`)?.click();
}

if (buttons.length) {
  const asked = new URLSearchParams(location.search).has("layout");
  lay((!asked && localStorage.getItem(KEY)) || document.querySelector(".diff")?.dataset.layout || "split");
}

document.addEventListener("click", (event) => {
  const layout = event.target.closest("[data-layout-button]");
  if (layout) choose(layout.dataset.layoutButton);
  const stepper = event.target.closest("[data-change-step]");
  if (stepper) step(Number(stepper.dataset.changeStep));
});

const STEPS = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity };

function walkStrip(strip) {
  const links = [...strip.querySelectorAll("a")];
  const stopAt = (link) => links.forEach((each) => each.setAttribute("tabindex", each === link ? 0 : -1));
  stopAt(links[0]);
  strip.addEventListener("keydown", (event) => {
    const by = STEPS[event.key];
    if (!by) return;
    event.preventDefault();
    const link = links[Math.max(0, Math.min(links.length - 1, links.indexOf(document.activeElement) + by))];
    stopAt(link);
    link.focus();
  });
  strip.addEventListener("pointerover", (event) => (strip.parentElement.title = event.target.closest("a")?.ariaLabel ?? ""));
  strip.addEventListener("click", (event) => {
    const change = document.getElementById(event.target.closest("a")?.href.baseVal.split("#")[1]);
    if (!change || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    goTo(change);
  });
}

document.querySelectorAll("[data-strip]").forEach(walkStrip);

onKey("u", () => document.querySelector("[data-layout-button][aria-pressed=false]")?.click());
onKey("]", () => step(1));
onKey("[", () => step(-1));
