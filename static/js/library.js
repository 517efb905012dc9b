/** The library asks what has changed, while it is looked at. Rows are replaced where they stand; chains that it lacks are
    only counted, and come when somebody asks for them. */
import { visible } from "./polling.js";

async function ask() {
  const place = document.querySelector("[data-refresh]"); // another one after a search
  const rows = [...document.querySelectorAll("#chains [data-mark]")];
  const { refresh, query, newest } = place.dataset;
  const values = {
    query,
    newest,
    named: document.querySelector("[data-named]")?.dataset.named ?? 0,
    chain: rows.map((row) => row.querySelector("[name=chain]").value),
    mark: rows.map((row) => row.dataset.mark),
  };
  let changed = false;
  const take = ({ detail }) => (changed = detail.shouldSwap = detail.shouldSwap && place.isConnected);
  place.addEventListener("htmx:beforeSwap", take, { once: true });
  await window.htmx.ajax("POST", refresh, { source: place, target: place, swap: "none", values });
  if (changed) countRunning();
  return changed;
}

function countRunning() {
  for (const badge of document.querySelectorAll("[data-running]")) {
    const running = badge.closest("tbody").querySelectorAll(".title-line > .live").length;
    badge.hidden = !running;
    badge.lastElementChild.textContent = running;
  }
}

document.addEventListener("htmx:afterSwap", ({ detail }) => {
  if (detail.requestConfig?.elt.matches("[data-show-new]")) document.querySelector("#chains .chain-link")?.focus({ preventScroll: true });
});

visible(ask, { first: 1500, least: 3000, most: 30000 });
