/** What is in sight in the chain is marked in the outline, which scrolls along. It stays still while the reader is in it.

Of several sections, the outline lists the rows of one, where the reader is; the others are one row each. */
import { sectionOf } from "./paths.js";

const FETCH_AFTER = 160; // milliseconds: a scrollbar that is dragged asks once

export class Sight {
  #timer = 0;
  #seen = "";

  constructor(outline) {
    this.outline = outline;
    this.section = sectionOf(outline.list.querySelector(".outline-item")?.dataset.path ?? "s1");
  }

  /** `rows`: those in sight, in their order. `place`: the one that is read. `opening`: the drawer is just sliding in. */
  follow(rows, place, opening = false) {
    const paths = rows.map((row) => row.dataset.path);
    this.mark(paths);
    const { box } = this.outline;
    if (!opening && (box.matches(":hover, :focus-within") || !box.checkVisibility({ visibilityProperty: true }))) return;
    if (!paths.length || paths.join() === this.#seen) return;
    this.#seen = paths.join();
    const { path } = (rows.find((row) => row.ariaCurrent) ?? place).dataset;
    clearTimeout(this.#timer);
    if (sectionOf(path) === this.section && paths.every((path) => this.#link(path))) return this.#show(paths);
    this.#timer = setTimeout(() => this.list(path).then(() => this.#show(paths)), FETCH_AFTER);
  }

  /** Lists the rows around `path`. The head of its section stays where it is. */
  async list(path) {
    this.section = sectionOf(path);
    const head = [path, this.section].find((each) => this.outline.find(each));
    await this.outline.replace(`around=${path}`, head);
  }

  mark(paths = this.paths) {
    this.paths = paths;
    const seen = new Set(paths.map((path) => this.#link(path)));
    for (const link of this.outline.rows) link.toggleAttribute("data-in-sight", seen.has(link));
  }

  /** The row of `path` in the outline, or the one of its closed section. */
  #link(path) {
    const section = sectionOf(path);
    return this.outline.find(section === this.section ? path : section);
  }

  /** The last one first, so that where not all fit the first one is seen. */
  #show(paths) {
    for (const path of [paths.at(-1), paths[0]]) this.#link(path)?.scrollIntoView({ block: "nearest" });
  }
}
