/** Opens and folds rows in place, fetches the rest of long nodes, wraps and widens results. */
import { fragment } from "./fragments.js";
import { idOf, isRun } from "./paths.js";
import { keepRoom, reach } from "./room.js";

const line = (row) => row?.querySelector(":scope > .node-line");
export const isSection = (row) => row.matches(".section-row");
export const isOpen = (row) => line(row).getAttribute("aria-expanded") === "true";

export class Nodes {
  constructor({ rows, fold, text }) {
    Object.assign(this, { rows, fold, text });
  }

  /** `part`: a path inside the row that must be there, however long the node is. */
  async setOpen(row, open, part = "") {
    const path = row.dataset.path;
    if (isOpen(row) === open) return;
    if (isRun(row)) return line(await this.rows.show(path))?.focus({ preventScroll: true });
    this.fold.set(path, open);
    line(row).setAttribute("aria-expanded", open); // at once: a second click before the answer is for the new state
    if (isSection(row)) return this.rows.replace(`around=${path}`, path);
    if (!open) {
      row.querySelector(":scope > .node-body")?.remove();
      return this.rows.fill();
    }
    const sent = fragment(this.text(line(row).href + (part && `?part=${part}`)));
    const body = (await keepRoom(row, this.rows.box, sent))?.querySelector(".node-body");
    if (!body) return line(row).setAttribute("aria-expanded", "false");
    if (isOpen(row) && !row.querySelector(":scope > .node-body")) row.append(body);
    if (!part) reach(row, this.rows.box);
    row.dispatchEvent(new CustomEvent("node:opened", { bubbles: true }));
  }

  /** The body of an open row once more, for a row that stands in another place now. */
  async readAgain(row) {
    const old = row?.querySelector(":scope > .node-body");
    const body = old && (await fragment(this.text(line(row).href)))?.querySelector(".node-body");
    if (body) old.replaceWith(body);
  }

  /** An open row with `part` in it, fetched if it lies further down than what is shown. */
  async reveal(row, part) {
    await this.setOpen(row, true, part);
    const link = row.querySelector(":scope > .node-body > [data-more]:last-child");
    if (link && !document.getElementById(idOf(part))) await this.more(link, { part });
    return document.getElementById(idOf(part));
  }

  /** The next step of a long part or node takes the place of its link. `words`: what else is asked for with it. */
  async more(link, words = {}) {
    if (link.dataset.busy) return;
    link.dataset.busy = "1";
    const address = new URL(link.href);
    for (const [name, value] of Object.entries(words)) address.searchParams.set(name, value);
    const found = await fragment(address.href);
    const step = found?.querySelector("[data-step]");
    if (!step) return delete link.dataset.busy;
    link.previousElementSibling?.classList.remove("fades");
    const row = link.closest("[data-path]");
    const hadFocus = link === document.activeElement;
    const [first, ...rest] = [...step.childNodes];
    link.replaceWith(first ?? "", ...rest);
    if (hadFocus) (first?.matches?.("[tabindex]") ? first : row && line(row))?.focus({ preventScroll: true });
    row?.dispatchEvent(new CustomEvent("node:opened", { bubbles: true }));
  }
}

export function wrap(button) {
  const on = button.getAttribute("aria-pressed") !== "true";
  button.setAttribute("aria-pressed", on);
  for (const text of button.closest(".tool-part").querySelectorAll("pre")) text.toggleAttribute("data-unwrapped", !on);
}

export function widen(link) {
  const on = link.closest(".tool-call").toggleAttribute("data-wide");
  link.textContent = on ? "Side by side" : "Full width";
}
