/** A chain whose file grows: the head asks for what is new while the page is looked at. A newer version is offered to the page
    (chain:grew), which may show it where the reader is; else the head says that there is one. */
import { visible } from "./polling.js";

const find = () => document.querySelector("[data-following]"); // another one once the page shows a newer version
let hasGrown = false;

async function ask() {
  const place = find();
  if (!place) return false;
  const before = place.innerHTML;
  hasGrown = false;
  await window.htmx.ajax("POST", place.dataset.following, {
    source: place,
    target: place,
    swap: "innerHTML",
    values: { v: place.dataset.number },
  });
  return hasGrown || place.innerHTML !== before;
}

document.addEventListener("htmx:beforeSwap", ({ target, detail }) => {
  if (target !== find() || !("isNewest" in target.dataset)) return;
  const answer = document.createElement("template");
  answer.innerHTML = detail.xhr.responseText;
  const grown = answer.content.querySelector("[data-grown]");
  if (!grown) return;
  const { grown: base, version } = grown.dataset;
  hasGrown = !document.dispatchEvent(new CustomEvent("chain:grew", { detail: { base }, cancelable: true }));
  if (hasGrown) [target.dataset.number, detail.shouldSwap] = [version, false];
});

if (find()) visible(ask, { first: 1000, least: 4000, most: 60000 });
