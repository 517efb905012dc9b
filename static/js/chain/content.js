/** Shows another content of the chain in place, such as a draft after an edit. What changed is exchanged; nothing else moves. */
import { wholePage } from "./fragments.js";
import { isOpen, isSection } from "./nodes.js";
import { isRun, rowOf } from "./paths.js";

export class Content {
  /** `address(base, query)`: of a window as the reader sees the chain. */
  constructor({ pane, rows, outline, current, fold, nodes, minimap, address }) {
    Object.assign(this, { pane, rows, outline, current, fold, nodes, minimap, address });
  }

  /** `changed`: the path of a node that is shown anew even where its row looks the same. */
  async show(base, changed = "") {
    this.fold.see(rowOf(changed)); // or a section that has just become long would fold under the reader's hands
    const page = await this.#page(base);
    if (!page) return;
    const isNew = base !== this.pane.dataset.base;
    const moved = this.#exchange(page, base, rowOf(changed));
    await this.#goOn(changed, moved, isNew);
  }

  /** A newer version that goes on where this one ends: its rows come behind, and the reader stays where they are. */
  async grow(base) {
    for (const row of this.rows.rows) this.#keepOpen(row);
    const page = await this.#page(base);
    if (!page) return;
    const focused = document.activeElement;
    this.#exchange(page, base, "", true);
    if (this.current.path) this.current.renew(!focused.isConnected);
    else if (location.pathname.includes("/v/")) history.replaceState(history.state, "", base);
    await this.#goOnAround();
  }

  /** More messages change what is folded at first: sections of a chain that is long now, and pairs that are no longer the last. */
  #keepOpen(row) {
    if (isRun(row)) return;
    if (!isSection(row)) this.fold.see(row.dataset.path);
    if (isOpen(row)) this.fold.set(row.dataset.path, true);
  }

  async #page(base) {
    const inPage = this.rows.rows;
    return wholePage(this.address(base, `near=${inPage[0]?.dataset.at ?? 0}&n=${Math.max(inPage.length, 10)}`));
  }

  /** Returns the old path of each row that stayed with its new one. */
  #exchange(page, base, changed, isQuiet = false) {
    this.#around(page, isQuiet);
    this.#readdress(this.pane.dataset.base, base);
    const moved = this.rows.exchange(page.querySelector("[data-rows]"), changed);
    this.fold.rename(moved);
    for (const [old, path] of moved) if (old !== path) this.nodes.readAgain(this.rows.find(path));
    return moved;
  }

  /** What stands around the rows: numbers, actions, minimap, and the strip of the draft. `isQuiet`: not what is being used. */
  #around(page, isQuiet) {
    for (const selector of [".chain-head", ".chart-box", ".minimap-pane"]) {
      const [old, fresh] = [document.querySelector(selector), page.querySelector(selector)];
      if (!old || !fresh || old.open || (isQuiet && old.querySelector(":focus, :popover-open"))) continue;
      old.replaceWith(fresh);
      window.htmx.process(fresh);
    }
    const strip = document.querySelector("[data-draft-strip]");
    const fresh = page.querySelector("[data-draft-strip]");
    if (strip) fresh ? strip.replaceWith(fresh) : strip.remove();
    else if (fresh) document.querySelector(".panes").after(fresh);
    this.current.actions.replaceChildren(...page.querySelector("[data-node-actions]").children);
    const map = document.querySelector("[data-minimap]");
    if (map) this.minimap?.show(map);
    if (!this.current.path) this.current.inspector.replaceChildren(...page.querySelector("[data-inspector]").childNodes);
  }

  #readdress(old, base) {
    this.pane.dataset.base = base;
    if (old === base) return;
    for (const box of [this.rows.list, this.outline.list, document.querySelector(".outline-head")]) {
      for (const each of box.querySelectorAll(`[href^="${old}"], [action^="${old}"], [data-lazy^="${old}"]`)) {
        for (const name of ["href", "action", "data-lazy"]) {
          const value = each.getAttribute(name);
          if (value?.startsWith(old)) each.setAttribute(name, base + value.slice(old.length));
        }
      }
    }
  }

  async #goOn(changed, moved, isNew) {
    const path = moved.get(this.current.path) ?? this.current.path;
    const row = this.rows.find(rowOf(changed)) ?? this.rows.find(path) ?? (path && this.rows.nearest(path));
    if (isNew) history.pushState(null, "", this.pane.dataset.base);
    this.current.path = "";
    delete this.current.inspector.dataset.path;
    if (row) this.current.mark(row);
    await this.#goOnAround();
  }

  async #goOnAround() {
    const place = this.outline.visible()[0]?.dataset.path;
    if (place) await this.outline.replace(`around=${place}`, place);
    this.rows.fill();
    this.rows.changed();
  }
}
