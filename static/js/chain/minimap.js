/** The minimap: a frame around what is in sight, and ticks where hits are. Its blocks are plain links: one stop for the
    tab key, and arrows lead from block to block. */
const STEPS = { ArrowUp: -1, ArrowDown: 1, Home: -Infinity, End: Infinity };

export class Minimap {
  constructor(svg) {
    this.show(svg);
  }

  show(svg) {
    this.svg = svg;
    this.frame = svg.querySelector("[data-frame]");
    this.hits = svg.querySelector("[data-hit-ticks]");
    this.whole = svg.viewBox.baseVal.height;
    this.blocks = [...svg.querySelectorAll("a[data-at]")].map((link) => {
      const box = link.firstElementChild;
      link.setAttribute("tabindex", -1);
      return { link, at: Number(link.dataset.at), y: Number(box.getAttribute("y")), height: Number(box.getAttribute("height")) };
    });
    this.#stopAt(this.blocks[0]);
    svg.addEventListener("keydown", (event) => this.#step(event));
    svg.addEventListener("pointerover", (event) => (svg.parentElement.title = event.target.closest("a")?.ariaLabel ?? ""));
  }

  #block(row) {
    return this.blocks.findLast((block) => block.at <= Number(row.dataset.at)) ?? this.blocks[0];
  }

  #stopAt(block) {
    this.stop?.link.setAttribute("tabindex", -1);
    block?.link.setAttribute("tabindex", 0);
    this.stop = block;
  }

  #step(event) {
    const by = STEPS[event.key];
    if (!by) return;
    event.preventDefault();
    const from = this.blocks.findIndex((block) => block.link === document.activeElement);
    this.#stopAt(this.blocks[Math.max(0, Math.min(this.blocks.length - 1, from + by))]);
    this.stop.link.focus();
  }

  /** Frames the blocks of the rows in sight. */
  view(rows) {
    if (!rows.length || !this.blocks.length) return;
    const [first, last] = [this.#block(rows[0]), this.#block(rows.at(-1))];
    this.frame.setAttribute("y", first.y);
    this.frame.setAttribute("height", Math.max(8, last.y + last.height - first.y));
    if (!this.svg.contains(document.activeElement)) this.#stopAt(first);
  }

  ticks(places) {
    const at = [...new Set(places.map((place) => Math.round(place * this.whole)))];
    this.hits.setAttribute("d", at.map((y) => `M0 ${y}h5`).join(""));
  }
}
