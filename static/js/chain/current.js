/** The node the reader is at: marked in the chain, the outline and the address; its actions and its inspector follow it. */
import { announce } from "../status.js";
import { fragment } from "./fragments.js";
import { idOf, isRun, rowOf, sectionOf } from "./paths.js";
import { isSection } from "./nodes.js";

const INSPECT_AFTER = 140; // milliseconds: walking with a held key asks once

export class Current {
  path = "";
  #timer = 0;

  /** `moved()`: the reader is at another node. */
  constructor({ pane, rows, outline, sight, nodes, inspector, actions, moved }) {
    Object.assign(this, { pane, rows, outline, sight, nodes, inspector, actions, moved });
  }

  get base() {
    return this.pane.dataset.base;
  }

  get row() {
    return this.path ? this.rows.find(this.path) : null;
  }

  /** Goes to any path: fetches the rows around it if need be, and opens the node where a part is meant. `isBack`: to a
  place of the browser's history, which gets no new entry. */
  async go(path, { open = path !== rowOf(path), focus = true, isBack = false } = {}) {
    const row = await this.rows.show(rowOf(path));
    if (!row) return (announce(`${path} is not visible in the chain now.`), null);
    if (!isBack && rowOf(path) !== this.path) history.pushState(null, "", this.#addressOf(rowOf(path)));
    this.mark(row, focus);
    const part = path !== rowOf(path) && (await this.nodes.reveal(row, path));
    if (open && !part && !isSection(row)) await this.nodes.setOpen(row, true);
    (part || row).scrollIntoView({ block: part ? "center" : "nearest" });
    return row;
  }

  mark(row, focus = true) {
    if (row.dataset.path !== this.path) {
      for (const old of this.rows.list.querySelectorAll(":scope > [aria-current]")) old.removeAttribute("aria-current");
      this.path = row.dataset.path;
      row.setAttribute("aria-current", "true");
      this.#actions(row);
      this.markOutline();
      this.#follow(row);
      this.moved();
    }
    if (focus) row.querySelector(".node-line").focus({ preventScroll: true });
  }

  #follow(row) {
    clearTimeout(this.#timer);
    if (!isRun(row)) this.#timer = setTimeout(() => (this.#address(), this.inspect()), INSPECT_AFTER);
  }

  /** Rows come and go: the one the reader is at is marked again when it comes back. */
  restore() {
    const row = this.row;
    if (!row || row.hasAttribute("aria-current")) return;
    row.setAttribute("aria-current", "true");
    this.#actions(row);
    this.#follow(row);
  }

  /** The node stands in a newer version of the chain: its actions and its address lead there. */
  renew(focus) {
    const { row } = this;
    this.#address();
    if (!row) return;
    row.setAttribute("aria-current", "true");
    this.#actions(row);
    if (focus) row.querySelector(".node-line").focus({ preventScroll: true });
    this.#inspectAgain();
  }

  /** What the inspector says of the node, such as its share; not while somebody is in it. */
  async #inspectAgain() {
    const box = this.inspector.parentElement;
    if (box.contains(document.activeElement)) return;
    const place = box.scrollTop;
    delete this.inspector.dataset.path;
    await this.inspect();
    box.scrollTop = place;
  }

  async step(by) {
    const row = this.row ?? (this.path ? await this.rows.show(this.path) : this.rows.visible()[0]);
    if (!row) return;
    if (!this.path) return this.mark(row);
    const neighbour = () => this.rows.rows.at(this.rows.rows.indexOf(row) + by);
    const atEdge = () => (by > 0 ? this.rows.rows.at(-1) === row : this.rows.rows[0] === row);
    if (atEdge() && !(await this.rows.extend(by > 0))) return;
    if (atEdge()) return;
    const next = neighbour();
    this.mark(next);
    next.scrollIntoView({ block: "nearest" });
  }

  async markOutline() {
    if (!this.outline || !this.path) return;
    const { box, list } = this.outline;
    for (const old of list.querySelectorAll("[aria-current]")) old.removeAttribute("aria-current");
    const isVisible = box.checkVisibility({ visibilityProperty: true });
    if (isVisible && !this.#isListed()) await this.sight.list(this.path);
    const link = this.outline.find(this.path);
    link?.setAttribute("aria-current", "true");
    if (isVisible) link?.scrollIntoView({ block: "nearest" });
  }

  /** Whether the outline lists the rows of this section, and has one for this node. */
  #isListed() {
    const link = this.outline.find(this.path);
    return link && sectionOf(this.path) === this.sight.section && !(isRun(link) && this.row && !isRun(this.row));
  }

  #actions(row) {
    if (isRun(row)) return this.actions.remove();
    row.append(this.actions);
    this.actions.hidden = false;
    for (const link of this.actions.querySelectorAll("[data-address]")) link.href = link.dataset.address.replace("PATH", this.path);
  }

  #address() {
    history.replaceState(history.state, "", this.#addressOf(this.path));
  }

  #addressOf(path) {
    return `${this.base}at/${path}${location.search}#${idOf(path)}`;
  }

  get link() {
    return new URL(`${this.base}at/${this.path}#${idOf(this.path)}`, location.href).href;
  }

  /** `opening`: the drawer is just sliding in and not yet visible. */
  async inspect(opening = false) {
    if (!this.path || this.inspector.dataset.path === this.path) return;
    if (!opening && !this.inspector.checkVisibility({ visibilityProperty: true })) return;
    const path = this.path;
    const found = await fragment(`${this.base}inspect/${path}`);
    if (!found || path !== this.path) return;
    this.inspector.dataset.path = path;
    this.inspector.replaceChildren(found);
    this.inspector.parentElement.scrollTop = 0;
  }

  async copy() {
    const text = fetch(`${this.base}raw/${this.path}?as=file`).then((answer) =>
      answer.ok ? answer.text() : Promise.reject(new Error("not found")),
    );
    try {
      // Safari wants the promise itself: waiting first would lose the click
      if (window.ClipboardItem)
        await navigator.clipboard.write([new ClipboardItem({ "text/plain": text.then((all) => new Blob([all], { type: "text/plain" })) })]);
      else await navigator.clipboard.writeText(await text);
      announce(`Copied the source of ${this.path}.`);
    } catch {
      announce("The browser does not allow copying. Use Download instead.");
    }
  }

  async copyLink() {
    try {
      await navigator.clipboard.writeText(this.link);
      announce(`Copied the link to ${this.path}.`);
    } catch {
      announce("The browser does not allow copying. The link is in the address bar.");
    }
  }
}
