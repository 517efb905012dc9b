/** After @ in a comment the members of the team are offered: arrows move, Enter or Tab takes one, Escape closes. */
import { fragment } from "./chain/fragments.js";

const ASK_AFTER = 120; // milliseconds after the last key
const BEGUN = /(?<![\w@./])@([\p{L}\p{N}_.+'-]*)$/u;
const field = (element) => element.matches?.("textarea[data-mentions]") && element;

let list = null; // of the field that has the focus
let timer = 0;

const textOf = (area) => BEGUN.exec(area.value.slice(0, area.selectionStart))?.[1];
const options = () => [...list.querySelectorAll("[role=option]")];

function close() {
  clearTimeout(timer);
  if (!list) return;
  for (const name of ["aria-controls", "aria-activedescendant"]) list.area.removeAttribute(name);
  list.remove();
  list = null;
}

async function offer(area) {
  const text = textOf(area);
  const found = await fragment(`${area.dataset.mentions}?q=${encodeURIComponent(text)}`);
  const fresh = found?.querySelector("[role=listbox]");
  if (text !== textOf(area) || document.activeElement !== area) return; // typed on meanwhile
  close();
  if (!fresh) return;
  list = fresh;
  list.area = area;
  area.after(list);
  area.setAttribute("aria-controls", list.id);
  choose(0);
}

function choose(index) {
  const all = options();
  const chosen = all[(index + all.length) % all.length];
  for (const each of all) each.setAttribute("aria-selected", each === chosen);
  list.area.setAttribute("aria-activedescendant", chosen.id);
  chosen.scrollIntoView({ block: "nearest" });
}

function take(option) {
  const { area } = list;
  const start = area.selectionStart - textOf(area).length;
  area.setRangeText(`${option.dataset.handle} `, start, area.selectionStart, "end");
  close();
  area.dispatchEvent(new Event("input", { bubbles: true }));
}

document.addEventListener("input", (event) => {
  const area = field(event.target);
  if (!area) return;
  clearTimeout(timer);
  if (textOf(area) === undefined) return close();
  timer = setTimeout(() => offer(area), ASK_AFTER);
});

const KEYS = {
  ArrowDown: (at) => choose(at + 1),
  ArrowUp: (at) => choose(at - 1),
  Enter: (at) => take(options()[at]),
  Tab: (at) => take(options()[at]),
  Escape: close,
};

// before the form, for which Escape and Enter mean something else
document.addEventListener(
  "keydown",
  (event) => {
    const act = list?.area === event.target && !event.ctrlKey && !event.metaKey && !event.shiftKey && KEYS[event.key];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act(options().findIndex((each) => each.ariaSelected === "true"));
  },
  true,
);

document.addEventListener("pointerdown", (event) => {
  const option = event.target.closest("[data-handle]");
  if (!option || !list?.contains(option)) return;
  event.preventDefault(); // the field keeps the focus
  take(option);
});

document.addEventListener("focusout", (event) => list?.area === event.target && close());
