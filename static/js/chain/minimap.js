/** The minimap: a frame around what is in sight, and ticks where hits are. Its blocks are plain links. */
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
      return { at: Number(link.dataset.at), y: Number(box.getAttribute("y")), height: Number(box.getAttribute("height")) };
    });
  }

  #block(row) {
    return this.blocks.findLast((block) => block.at <= Number(row.dataset.at)) ?? this.blocks[0];
  }

  /** Frames the blocks of the rows in sight. */
  view(rows) {
    if (!rows.length || !this.blocks.length) return;
    const [first, last] = [this.#block(rows[0]), this.#block(rows.at(-1))];
    this.frame.setAttribute("y", first.y);
    this.frame.setAttribute("height", Math.max(8, last.y + last.height - first.y));
  }

  ticks(places) {
    const at = [...new Set(places.map((place) => Math.round(place * this.whole)))];
    this.hits.setAttribute("d", at.map((y) => `M0 ${y}h5`).join(""));
  }
}
