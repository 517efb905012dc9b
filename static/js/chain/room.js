/** Room for what a row is about to show: a late answer moves little then. */
const SOON = 250; // milliseconds; browsers count what moves half a second after a click or key
const AROUND = 32; // pixels around the texts of a node
const LETTER = 300; // square pixels that a byte takes, with lines that are half full

/** How high the texts of a row will be, in pixels, as far as its size in bytes tells; never much more than what is in sight. */
export const heightOf = (row, box) => Math.min(AROUND + (row.dataset.size * LETTER) / row.clientWidth, 1.5 * box.clientHeight);

/** Resolves with the answer. If it takes long, an open row says meanwhile that its content is on the way. */
export async function keepRoom(row, box, answer) {
  const room = document.createElement("div");
  room.className = "node-body faint";
  room.setAttribute("aria-busy", "true");
  room.textContent = "Loading…";
  const timer = setTimeout(() => {
    if (row.querySelector(":scope > .node-line").getAttribute("aria-expanded") !== "true") return;
    room.style.blockSize = `${heightOf(row, box)}px`;
    row.append(room);
  }, SOON);
  try {
    return await answer;
  } finally {
    clearTimeout(timer);
    room.remove();
  }
}

const ENOUGH = 240; // pixels of what opened that must be in sight

/** Scrolls only where the beginning of an element is out of sight, and no further: what is above a long field stays. */
export function reach(element, box) {
  const [view, { top, height }] = [box.getBoundingClientRect(), element.getBoundingClientRect()];
  const below = top + Math.min(height, ENOUGH) - view.bottom;
  if (top < view.top) element.scrollIntoView({ block: "start" });
  else if (below > 0) box.scrollTop += below;
}
