/** A window over a long list of rows: fetches rows where the reader looks and drops those far away.

The server gives rows by path and direction; two spacers stand for what is not in the page, so the scrollbar is an estimate.
Rows that come or go above the view are taken from or added to the spacer there, so no row in sight moves. */
import { keysAreOn } from "../keys.js";
import { fragment } from "./fragments.js";
import { compare, isRun, sectionOf } from "./paths.js";

const TALLEST = 8_000_000; // browsers give up on taller boxes
const IDLE = 200; // milliseconds without scrolling
const ROWS = "[data-path]:not([data-context])";

/** Where a row stands. The head of an open section sticks to the top while it is passed: then its neighbours tell. */
export function placeOf(row) {
  const place = row.getBoundingClientRect();
  if (!row.matches(".section-row")) return place;
  const [next, previous] = [row.nextElementSibling, row.previousElementSibling];
  if (next?.matches(".node")) {
    const { top } = next.getBoundingClientRect();
    return { top: top - place.height, bottom: top };
  }
  // the last row in the page: without this it would seem in sight wherever one scrolls
  if (!previous?.matches(".node")) return place;
  const { bottom } = previous.getBoundingClientRect();
  return { top: bottom, bottom: bottom + place.height };
}

/** What a row is known by, wherever it stands and whatever its share of the chain is. */
const words = (row) => [...row.querySelectorAll(":scope > .node-line > :is(b, .teaser)")].map((each) => each.textContent).join("\n");
const bodyOf = (row) => row.querySelector(":scope > .node-body");

/** Whether the old row shows the same as the new one, as far as both show it. */
function isSame(old, row) {
  if (old.hasAttribute("data-context") !== row.hasAttribute("data-context") || words(old) !== words(row)) return false;
  const [before, after] = [bodyOf(old), bodyOf(row)];
  if (!before || !after || old.dataset.path !== row.dataset.path) return true;
  const more = after.querySelector("[data-more]");
  const text = after.textContent;
  return before.textContent.startsWith(more ? text.slice(0, text.indexOf(more.textContent)) : text);
}

/** Finds the old row of each new one, in order, and gives it the new path. */
function matched(olds, rows, changed) {
  const kept = new Set();
  const moved = new Map();
  let next = 0;
  for (const row of rows) {
    const path = row.dataset.path;
    const at = path === changed ? -1 : olds.findIndex((old, i) => i >= next && isSame(old, row));
    if (at < 0) continue;
    const old = olds[at];
    next = at + 1;
    kept.add(old);
    if (!old.hasAttribute("data-context")) moved.set(old.dataset.path, path);
    row.stays = old;
    renumber(old, row);
  }
  return [kept, moved];
}

/** The row of a node takes its new place, numbers and flags; its line keeps the focus. */
function renumber(old, row) {
  for (const name of ["id", "aria-label", "data-path", "data-at", "data-size", "data-role", "data-flagged"]) {
    if (row.hasAttribute(name)) old.setAttribute(name, row.getAttribute(name));
    else old.removeAttribute(name);
  }
  const [line, fresh] = [old, row].map((each) => each.querySelector(":scope > .node-line"));
  line.href = fresh.getAttribute("href");
  line.replaceChildren(...fresh.childNodes);
}

export class RowWindow {
  before = 0;
  after = 0;
  #busy = null;

  /** `address(query)` gives the URL; `most` is how many elements the rows may have together; `see(path)` is told of a
  node that is to have a row of its own; `hasKeys` if Home and End are shortcuts of the page. */
  constructor({ box, list, address, rowHeight, most, step, hasKeys = false, changed = () => {}, see = () => {} }) {
    Object.assign(this, { box, list, address, rowHeight, most, step, hasKeys, changed, see });
    this.top = list.querySelector("[data-spacer=top]");
    this.bottom = list.querySelector("[data-spacer=bottom]");
    this.#counts(list.querySelector("[data-window]"));
    let frame = 0;
    let idle = 0;
    const later = () => {
      frame ||= requestAnimationFrame(() => ((frame = 0), this.fill(), this.changed()));
      clearTimeout(idle);
      idle = setTimeout(() => this.#settle(), IDLE);
    };
    box.addEventListener("scroll", later, { passive: true });
    box.addEventListener("keydown", (event) => this.#ends(event));
    new ResizeObserver(later).observe(box);
    this.#space();
    if (this.before) box.scrollTop += this.top.getBoundingClientRect().height;
    later();
  }

  /** At once: the browser would glide there, and rows that come on the way would stop it. */
  #ends(event) {
    if (this.hasKeys && keysAreOn()) return;
    if (!["Home", "End"].includes(event.key) || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    if (event.target.closest("input, textarea, select, pre, [contenteditable]")) return;
    event.preventDefault();
    this.box.scrollTop = event.key === "End" ? this.box.scrollHeight : 0;
  }

  get rows() {
    return [...this.list.querySelectorAll(`:scope > ${ROWS}`)];
  }

  find(path) {
    return this.list.querySelector(`:scope > [data-path="${path}"]:not([data-context])`);
  }

  /** How far beyond the view rows are kept ready. */
  get margin() {
    return this.box.clientHeight * 0.6;
  }

  visible() {
    const view = this.box.getBoundingClientRect();
    return this.rows.filter((row) => {
      const place = placeOf(row);
      return place.bottom > view.top && place.top < view.bottom;
    });
  }

  /** The row of `path`, fetched with its surroundings if it is not in the page. */
  async show(path) {
    const here = this.find(path);
    if (here && !isRun(here)) return (this.#busy?.abort(), here); // rows that come for the place before could push it out
    this.see(path);
    await this.replace(`around=${path}`, here ? path : null);
    return this.find(path);
  }

  async replace(query, keep = null) {
    const old = keep && this.find(keep);
    const place = old && placeOf(old).top;
    const found = await this.#fetch(query);
    if (!found) return;
    for (const row of this.list.querySelectorAll(":scope > [data-path]")) row.remove();
    this.bottom.before(...found.rows);
    [this.before, this.after] = [found.before, found.after];
    this.#space();
    const row = keep && this.find(keep);
    if (row) this.box.scrollTop += placeOf(row).top - (place ?? this.box.getBoundingClientRect().top);
    else if (this.rows.length) this.#moveTo(this.rows[0]);
    this.changed();
  }

  /** The rows of another content come in; one that looks as it did stays, with all that the reader opened in it, except
  that of `changed`. Returns the old path of each row that stayed with its new one. */
  exchange(list, changed = "") {
    this.#busy?.abort();
    const facts = list.querySelector("[data-window]");
    const fresh = [...list.querySelectorAll(":scope > [data-path]")];
    const [kept, moved] = matched([...this.list.querySelectorAll(":scope > [data-path]")], fresh, changed);
    const anchor = this.visible().find((row) => kept.has(row)) ?? null;
    const place = anchor && placeOf(anchor).top;
    for (const gone of this.list.querySelectorAll(":scope > :is([data-path], .window-link)")) if (!kept.has(gone)) gone.remove();
    let last = this.top;
    for (const row of fresh) {
      const shown = row.stays ?? row;
      if (last.nextElementSibling !== shown) last.after(shown);
      last = shown;
    }
    this.#counts(facts);
    this.bottom.style.blockSize = `${this.#height(this.after)}px`;
    if (anchor) this.box.scrollTop += placeOf(anchor).top - place;
    return moved;
  }

  #moveTo(row) {
    const view = this.box.getBoundingClientRect();
    const place = placeOf(row);
    if (place.top > view.bottom || place.bottom < view.top) this.box.scrollTop += place.top - view.top - 48;
  }

  async extend(down) {
    const rows = this.rows;
    const edge = down ? rows.at(-1) : rows[0];
    if (!edge || !(down ? this.after : this.before)) return false;
    const found = await this.#fetch(`from=${edge.dataset.path}&dir=${down ? "after" : "before"}&n=${this.step}`);
    if (!found || edge.parentNode !== this.list) return false;
    this.#keepPlace(() => {
      const fresh = found.rows.filter((row) => (row.matches("[data-context]") ? !down : !this.find(row.dataset.path)));
      if (down) {
        this.bottom.before(...fresh);
        this.after = found.after;
      } else {
        for (const row of this.list.querySelectorAll(":scope > [data-context]")) row.remove();
        this.top.after(...fresh);
        this.before = found.before;
      }
    });
    // only now do the rows stand where they will stay
    this.#keepPlace(() => this.#trim(down));
    this.bottom.style.blockSize = `${this.#height(this.after)}px`;
    if (!this.before) this.#settle();
    this.changed();
    return true;
  }

  async fill() {
    if (this.#busy || !this.rows.length) return;
    const view = this.box.getBoundingClientRect();
    if (!view.height) return;
    const { margin } = this;
    const rows = this.rows;
    const [top, bottom] = [placeOf(rows[0]).top, placeOf(rows.at(-1)).bottom];
    if (this.#isFar()) await this.#jump(view);
    else if (bottom < view.bottom + margin && this.after) (await this.extend(true)) && this.fill();
    else if (top > view.top - margin && this.before) (await this.extend(false)) && this.fill();
  }

  #isFar() {
    const view = this.box.getBoundingClientRect();
    const rows = this.rows;
    return !rows.length || placeOf(rows.at(-1)).bottom < view.top - this.margin || placeOf(rows[0]).top > view.bottom + this.margin;
  }

  /** Far from every row in the page: the scrollbar was dragged. Ask for the rows at about that height. */
  async #jump(view) {
    const whole = this.list.getBoundingClientRect();
    const share = Math.min(1, Math.max(0, (view.top - whole.top) / Math.max(1, whole.height - view.height)));
    const place = this.box.scrollTop;
    await this.replace(`near=${Math.round(share * this.messages)}`);
    // the reader may have gone on meanwhile
    if (!this.#isFar() || this.box.scrollTop !== place) this.fill();
  }

  async #fetch(query) {
    this.#busy?.abort();
    const mine = (this.#busy = new AbortController());
    const content = await fragment(this.address(query), { signal: mine.signal });
    if (this.#busy === mine) this.#busy = null;
    const facts = content?.querySelector("[data-window]");
    if (!facts) return null;
    return {
      rows: [...content.querySelectorAll("[data-path]")].filter((row) => !row.parentElement?.closest("[data-path]")),
      before: Number(facts.dataset.before),
      after: Number(facts.dataset.after),
    };
  }

  #counts(facts) {
    [this.before, this.after, this.messages] = ["before", "after", "messages"].map((name) => Number(facts?.dataset[name] ?? 0));
  }

  /** The first row in sight below a head that sticks to the top. */
  anchor() {
    const view = this.box.getBoundingClientRect();
    return this.rows.find((row) => placeOf(row).bottom > view.top + 44) ?? this.rows.at(-1);
  }

  /** What the spacer above cannot give is scrolled. */
  #keepPlace(change) {
    const anchor = this.anchor();
    const before = placeOf(anchor).top;
    change();
    if (!anchor.isConnected) return;
    const height = this.top.getBoundingClientRect().height - (placeOf(anchor).top - before);
    this.top.style.blockSize = `${Math.max(0, height)}px`;
    if (height < 0) this.box.scrollTop -= height;
  }

  /** The spacer above gets its estimated height back where it has drifted far from it. */
  #settle() {
    const anchor = this.anchor();
    const drift = Math.abs(this.top.getBoundingClientRect().height - this.#height(this.before));
    if (!anchor || (this.before && drift < 4 * this.box.clientHeight)) return;
    const before = placeOf(anchor).top;
    this.#space();
    this.box.scrollTop += placeOf(anchor).top - before;
  }

  /** Rows leave at the far end while there are too many elements, never those in sight. */
  #trim(fromTop) {
    const view = this.box.getBoundingClientRect();
    const far = this.margin + 3 * this.rowHeight; // or the next look would fetch them again
    const rows = this.rows;
    let left = this.list.getElementsByTagName("*").length;
    let kept = rows.length;
    const leaving = (fromTop ? rows : rows.toReversed()).filter((row) => {
      const place = placeOf(row);
      if (left <= this.most || kept <= 12 || (fromTop ? place.bottom > view.top - far : place.top < view.bottom + far)) {
        left = 0; // the rows behind it stay, too
        return false;
      }
      left -= row.getElementsByTagName("*").length + 1;
      kept -= 1;
      return true;
    });
    for (const [index, row] of leaving.entries()) {
      row.remove();
      if (fromTop) this.#pin(row, rows[index + 1]);
    }
    if (fromTop) this.before += leaving.length;
    else this.after += leaving.length;
  }

  /** A section whose head left the page keeps it as its context row. */
  #pin(gone, first) {
    const old = this.list.querySelector(":scope > [data-context]");
    if (sectionOf(first.dataset.path) === first.dataset.path) return old?.remove();
    if (gone.dataset.path !== sectionOf(first.dataset.path)) return;
    old?.remove();
    gone.removeAttribute("id");
    gone.setAttribute("data-context", "");
    this.top.after(gone);
  }

  #space() {
    this.top.style.blockSize = `${this.#height(this.before)}px`;
    this.bottom.style.blockSize = `${this.#height(this.after)}px`;
  }

  #height(rows) {
    return rows * this.rowHeight * Math.min(1, TALLEST / Math.max(1, (this.before + this.after) * this.rowHeight));
  }

  /** The row that stands at or before `path`. */
  nearest(path) {
    return this.rows.findLast((row) => compare(row.dataset.path, path) <= 0);
  }
}
