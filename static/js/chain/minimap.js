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
    this.blocks = [...svg.querySelectorAll("a")].map((link) => {
      const box = link.firstElementChild;
      link.dataset.at = new URL(link.href.baseVal, document.baseURI).searchParams.get("near");
      link.setAttribute("tabindex", -1);
      return { link, at: Number(link.dataset.at), y: Number(box.getAttribute("y")), height: Number(box.getAttribute("height")) };
    });
    const messages = Number(document.querySelector("[data-rows] [data-window]")?.dataset.messages);
    this.blocks.forEach((block, i) => (block.end = this.blocks[i + 1]?.at ?? Math.max(block.at + 1, messages)));
    this.#stopAt(this.blocks[0]);
    svg.addEventListener("keydown", (event) => this.#step(event));
    svg.addEventListener("click", (event) => this.#aim(event), true);
    svg.addEventListener("pointerover", (event) => (svg.parentElement.title = event.target.closest("a")?.ariaLabel ?? ""));
  }

  #block(at) {
    return this.blocks.findLast((block) => block.at <= at) ?? this.blocks[0];
  }

  /** Where a message lies: within a block as far down as it comes among the block's messages. */
  #y(at) {
    const { at: start, end, y, height } = this.#block(at);
    return y + height * Math.min(1, (at - start) / (end - start));
  }

  /** A click with the mouse means the message at that height, not the first one of the block. */
  #aim(event) {
    const block = event.detail && this.blocks.find(({ link }) => link.contains(event.target));
    if (!block) return;
    const { top, height } = block.link.getBoundingClientRect();
    const share = Math.min(0.99, Math.max(0, (event.clientY - top) / height));
    block.link.dataset.at = Math.floor(block.at + share * (block.end - block.at));
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
    const [top, bottom] = [this.#y(Number(rows[0].dataset.at)), this.#y(Number(rows.at(-1).dataset.at) + 1)];
    this.frame.setAttribute("y", top);
    this.frame.setAttribute("height", Math.max(this.whole / 100, bottom - top));
    if (!this.svg.contains(document.activeElement)) this.#stopAt(this.#block(Number(rows[0].dataset.at)));
  }

  ticks(places) {
    const at = [...new Set(places.map((place) => Math.round(place * this.whole)))];
    this.hits.setAttribute("d", at.map((y) => `M0 ${y}h5`).join(""));
  }
}
