/** The library asks what has changed, while it is looked at. Rows are replaced where they stand; chains that it lacks are
    only counted, and come when somebody asks for them. */
import { onKey } from "./keys.js";
import { visible } from "./polling.js";

async function ask() {
  const place = document.querySelector("[data-refresh]"); // another one after a search
  const rows = [...document.querySelectorAll("#chains [data-mark]")];
  const { refresh, query, newest, newestSession } = place.dataset;
  const [chains, sessions] = ["chain", "session"].map((name) => rows.filter((row) => row.querySelector(`[name=${name}]`)));
  const values = {
    query,
    newest,
    newest_session: newestSession,
    named: document.querySelector("[data-named]")?.dataset.named ?? 0,
    chain: chains.map((row) => row.querySelector("[name=chain]").value),
    mark: chains.map((row) => row.dataset.mark),
    session: sessions.map((row) => row.querySelector("[name=session]").value),
    "session-mark": sessions.map((row) => row.dataset.mark),
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

// A session that is opened gets a working copy, so its link is a form; in another tab it is the session's page.
document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-open-session]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  const form = document.getElementById("open-session");
  form.action = `${link.pathname}open/`;
  form.submit();
});

// One menu for all rows.
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-row-menu]");
  if (!button) return;
  const menu = document.getElementById("row-menu");
  const [rename, chain] = [menu.querySelector("[data-rename]"), menu.querySelector("[name=chain]")];
  if (chain) chain.value = button.dataset.rowMenu;
  if (rename) {
    rename.action = rename.dataset.rename.replace("/0/", `/${button.dataset.rowMenu}/`);
    rename.elements.title.value = button.closest("tr").querySelector(".chain-link").textContent.trim();
  }
  const { bottom, right } = button.getBoundingClientRect();
  menu.style.inset = `${Math.min(bottom, innerHeight - 180)}px auto auto ${Math.max(8, right - 260)}px`;
});

function changeDensity() {
  const table = document.querySelector(".chains");
  if (!table) return false;
  const isRoomy = table.toggleAttribute("data-roomy");
  document.cookie = `library_rows=${isRoomy ? "roomy" : ""}; path=/; max-age=31536000; samesite=lax`;
  return true;
}
document.addEventListener("click", (event) => {
  if (event.target.closest("[data-density]") && changeDensity()) event.preventDefault();
});
onKey("d", changeDensity);

// j and k move through the rows, Enter opens one, x ticks it.
const links = () => [...document.querySelectorAll("#chains .chain-link")].filter((link) => link.checkVisibility());
const rowInFocus = () => document.activeElement?.closest("#chains tbody tr");

function walk(step) {
  const all = links();
  const row = rowInFocus();
  const at = all.findIndex((link) => row?.contains(link));
  const next = at < 0 ? all[0] : all[at + step];
  next?.focus();
  return Boolean(next);
}

function tick() {
  const box = rowInFocus()?.querySelector(".of-pick input");
  box?.click();
  return Boolean(box);
}
onKey("j", () => walk(1));
onKey("k", () => walk(-1));
onKey("x", tick);

visible(ask, { first: 1500, least: 3000, most: 30000 });
