/** The command palette (Ctrl K): a field over the list that the server gives for its words. Arrows choose, Enter opens. */
import { fragment } from "./chain/fragments.js";

const WAIT = 120; // milliseconds after the last key
const RECENT = "chainviz-recent";
const MOST_RECENT = 5;
const SHELL = `<div class="palette-field">
    <input type="text" role="combobox" aria-expanded="true" aria-controls="palette-list" aria-autocomplete="list"
      aria-label="Search and commands" placeholder="Message, id, action, page or chain" maxlength="200"
      autocomplete="off" spellcheck="false">
    <kbd aria-hidden="true">Esc</kbd>
  </div>
  <div class="palette-list" tabindex="0"></div>`;

let dialog, input, list, opener, timer, request, entered;

function build() {
  dialog = document.createElement("dialog");
  dialog.className = "palette";
  dialog.setAttribute("aria-label", "Search and commands");
  dialog.innerHTML = SHELL;
  document.body.append(dialog);
  [input, list] = [dialog.querySelector("input"), dialog.querySelector(".palette-list")];
  input.addEventListener("input", () => {
    clearTimeout(timer);
    choose(null); // Enter opens nothing that older words found
    entered = null;
    timer = setTimeout(fill, WAIT);
  });
  input.addEventListener("keydown", walk);
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog || event.target.closest("a")) dialog.close();
  });
}

async function fill() {
  request?.abort();
  request = new AbortController();
  const address = new URL(opener.href);
  address.searchParams.set("q", input.value);
  const found = await fragment(address, { signal: request.signal });
  if (!found) return;
  list.replaceChildren(found);
  if (!input.value) showRecent();
  choose(options()[0]);
  if (entered) press(entered);
}

const options = () => [...list.querySelectorAll("[role=option]")];
const chosen = () => list.querySelector("[aria-selected=true]");

function choose(option) {
  chosen()?.setAttribute("aria-selected", "false");
  option?.setAttribute("aria-selected", "true");
  option?.scrollIntoView({ block: "nearest" });
  option ? input.setAttribute("aria-activedescendant", option.id) : input.removeAttribute("aria-activedescendant");
}

function walk(event) {
  const all = options();
  const at = all.indexOf(chosen());
  const to = { ArrowDown: (at + 1) % all.length, ArrowUp: (at - 1 + all.length) % all.length }[event.key];
  if (to !== undefined) {
    event.preventDefault();
    choose(all[to]);
  } else if (event.key === "Enter") {
    event.preventDefault();
    press(event);
  }
}

/** Opens the chosen option, or the first one as soon as it is there. */
function press(event) {
  entered = chosen() ? null : event;
  if (event.ctrlKey || event.metaKey) chosen() && open(chosen().href, "_blank", "noopener");
  else chosen()?.click();
}

// ---- the chains that this browser has shown ----
const recent = () => JSON.parse(localStorage.getItem(RECENT) ?? "[]");
const here = location.pathname.match(/^\/c\/\d+\//)?.[0];

function showRecent() {
  const group = list.querySelector("[data-recent]") ?? document.createElement("div");
  const others = recent().filter((each) => each.address !== here);
  if (!others.length) return;
  group.setAttribute("role", "group");
  group.setAttribute("aria-label", "Recent");
  group.innerHTML = '<p class="palette-group" aria-hidden="true">Recent</p>';
  others.forEach(({ address, title }, at) => {
    const link = Object.assign(document.createElement("a"), { href: address, id: `option-recent-${at}`, tabIndex: -1 });
    link.setAttribute("role", "option");
    link.setAttribute("aria-selected", "false");
    link.append(Object.assign(document.createElement("b"), { textContent: title }));
    group.append(link);
  });
  list.querySelector("[role=listbox]").prepend(group);
}

const title = document.querySelector(".chain-title")?.textContent.trim();
if (here && title) {
  const others = recent().filter((each) => each.address !== here);
  localStorage.setItem(RECENT, JSON.stringify([{ address: here, title }, ...others].slice(0, MOST_RECENT + 1)));
}

// ---- opening ----
function show(link) {
  if (!dialog) build();
  opener = link;
  input.value = "";
  entered = null;
  dialog.showModal();
  fill();
}
document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-palette]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  show(link);
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "k" || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return;
  const link = document.querySelector(".palette-button[data-palette]");
  if (!link) return;
  event.preventDefault();
  dialog?.open ? dialog.close() : show(link);
});
