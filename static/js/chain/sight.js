/** What is in sight in the chain is marked in the outline, which scrolls along. It stays still while the reader is in it. */
const FETCH_AFTER = 160; // milliseconds: a scrollbar that is dragged asks once

export class Sight {
  #timer = 0;
  #first = "";

  constructor(outline) {
    this.outline = outline;
  }

  /** `rows`: those in sight, in their order. `opening`: the drawer with the outline is just sliding in. */
  follow(rows, opening = false) {
    const paths = rows.map((row) => row.dataset.path);
    this.mark(paths);
    const { box } = this.outline;
    if (!opening && (box.matches(":hover, :focus-within") || !box.checkVisibility({ visibilityProperty: true }))) return;
    if (!paths.length || paths[0] === this.#first) return;
    this.#first = paths[0];
    clearTimeout(this.#timer);
    if (paths.every((path) => this.outline.find(path))) return this.#show(paths);
    this.#timer = setTimeout(async () => {
      await this.outline.replace(`around=${paths[0]}`);
      this.#show(paths);
    }, FETCH_AFTER);
  }

  mark(paths = this.paths) {
    this.paths = paths;
    const seen = new Set(paths);
    for (const link of this.outline.rows) link.toggleAttribute("data-in-sight", seen.has(link.dataset.path));
  }

  /** The last one first, so that where not all fit the first one is seen. */
  #show(paths) {
    for (const path of [paths.at(-1), paths[0]]) this.outline.find(path)?.scrollIntoView({ block: "nearest" });
  }
}
