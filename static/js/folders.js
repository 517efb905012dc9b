/** The page of folders asks what has changed, while it is looked at: often while files change, seldom while they do not. */
import { visible } from "./polling.js";

const table = document.querySelector("[data-files]");

async function ask() {
  const { refresh, folder, q, total } = table.dataset;
  const body = new FormData();
  for (const [name, value] of Object.entries({ folder, q, total, in: table.dataset.in })) body.append(name, value);
  for (const row of table.querySelectorAll("[data-file]")) {
    body.append("file", row.dataset.file);
    body.append("mark", row.dataset.mark);
  }
  let changed = 0;
  const noted = (event) => (changed = Number(event.detail.xhr?.getResponseHeader("X-Changed")));
  table.addEventListener("htmx:afterRequest", noted, { once: true });
  await window.htmx.ajax("POST", refresh, { source: table, target: table, swap: "none", values: fields(body) });
  return changed > 0;
}

function fields(body) {
  const values = {};
  for (const name of new Set(body.keys())) values[name] = body.getAll(name).length > 1 ? body.getAll(name) : body.get(name);
  return values;
}

document.addEventListener("click", (event) => {
  if (!event.target.closest("[data-reload]")) return;
  event.preventDefault();
  location.reload();
});

if (table) visible(ask, { first: 1500, least: 3000, most: 30000 });
