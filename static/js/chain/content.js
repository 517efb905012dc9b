/** Shows another content of the chain in place, such as a draft after an edit. What changed is exchanged; nothing else moves. */
import { wholePage } from "./fragments.js";
import { rowOf } from "./paths.js";

export class Content {
  /** `address(base, query)`: of a window as the reader sees the chain. */
  constructor({ pane, rows, outline, current, fold, nodes, minimap, address }) {
    Object.assign(this, { pane, rows, outline, current, fold, nodes, minimap, address });
  }

  /** `changed`: the path of a node that is shown anew even where its row looks the same. */
  async show(base, changed = "") {
    const inPage = this.rows.rows;
    const near = inPage[0]?.dataset.at ?? 0;
    this.fold.see(rowOf(changed)); // or a section that has just become long would fold under the reader's hands
    const page = await wholePage(this.address(base, `near=${near}&n=${Math.max(inPage.length, 10)}`));
    if (!page) return;
    this.#around(page);
    const isNew = base !== this.pane.dataset.base;
    this.#readdress(this.pane.dataset.base, base);
    const moved = this.rows.exchange(page.querySelector("[data-rows]"), rowOf(changed));
    this.fold.rename(moved);
    for (const [old, path] of moved) if (old !== path) this.nodes.readAgain(this.rows.find(path));
    await this.#goOn(changed, moved, isNew);
  }

  /** What stands around the rows: numbers, actions, minimap, and the strip of the draft. */
  #around(page) {
    for (const selector of [".chain-head", ".chart-box", ".minimap-pane"]) {
      const [old, fresh] = [document.querySelector(selector), page.querySelector(selector)];
      if (!old || !fresh || old.open) continue;
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
    const place = this.outline.visible()[0]?.dataset.path;
    if (place) await this.outline.replace(`around=${place}`, place);
    this.rows.fill();
    this.rows.changed();
  }
}
