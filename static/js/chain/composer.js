/** A comment begins beside the chain: its form stands on top of the inspector. Selected words offer it, or the key does. */
import { announce } from "../status.js";
import { fragment, send } from "./fragments.js";
import { rowOf } from "./paths.js";

const OFFER_AFTER = 200; // milliseconds of a selection that no longer changes
const LONGEST = 5000;
const TEXT = "pre, .prose";
const HIGHLIGHT = "comment-draft"; // what the comment being written is about
const PART = /^s\d+-(?:h|p\d+)-m\d+-c\d+$/;

const IN_A_DRAFT = "Only you see a draft. Save it as a version to comment on it.";

/** How often the words of `quote` stand in `text`, whatever is between them. */
function count(text, quote) {
  const words = quote.match(/[\p{L}\p{N}]+/gu)?.join("[^\\p{L}\\p{N}]+") ?? quote.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return text.match(new RegExp(words, "gu"))?.length ?? 0;
}

export class Composer {
  #timer = 0;

  /** `place`: where the form stands; `added(thread, path)`: shows a thread that was begun at a row. */
  constructor({ pane, rows, place, actions, current, added }) {
    Object.assign(this, { pane, rows, place, actions, current, added });
    this.offer = pane.querySelector("[data-comment-offer]");
    if (!this.offer) return;
    document.addEventListener("selectionchange", () => this.#later());
    this.offer.addEventListener("pointerdown", (event) => event.preventDefault()); // the selection stays
    this.offer.addEventListener("click", () => this.open());
    place.addEventListener("submit", (event) => this.#submit(event));
    place.addEventListener("click", (event) => this.#cancel(event));
    place.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || event.defaultPrevented) return;
      event.preventDefault();
      event.stopPropagation();
      this.close();
    });
  }

  /** Where a comment begins; "" in a draft, and for who may not comment. */
  get #address() {
    return this.actions.querySelector("[data-action=comment]")?.dataset.address ?? "";
  }

  #later() {
    clearTimeout(this.#timer);
    this.offer.hidden = true;
    this.#timer = setTimeout(() => this.#propose(), OFFER_AFTER);
  }

  #propose() {
    if (!this.#address || !this.#selected()) return;
    const end = [...getSelection().getRangeAt(0).getClientRects()].findLast((each) => each.width);
    if (!end) return;
    const view = this.pane.getBoundingClientRect();
    this.offer.hidden = false;
    const left = Math.min(end.right - view.left, view.width - this.offer.offsetWidth - 24);
    this.offer.style.insetInlineStart = `${Math.max(8, left)}px`;
    this.offer.style.insetBlockStart = `${end.bottom - view.top + this.pane.scrollTop + 6}px`;
  }

  /** What is selected in the text of one part: its path, the words, and which of the places with them it is. */
  #selected() {
    const selection = getSelection();
    const quote = selection.toString().trim().slice(0, LONGEST);
    const at = selection.anchorNode?.parentElement;
    const row = at?.closest("[data-rows] > [data-path]");
    if (!quote || !row?.contains(selection.focusNode) || !at.closest(`.node-body :is(${TEXT})`) || at.closest(".node-threads")) return null;
    let part = at.closest("[id]");
    while (part && part !== row && !PART.test(part.id)) part = part.parentElement.closest("[id]");
    const before = new Range();
    before.setStart(part.querySelector(TEXT), 0);
    const { startContainer, startOffset } = selection.getRangeAt(0);
    before.setEnd(startContainer, startOffset);
    const path = part === row ? row.dataset.path : part.id.replaceAll("-", ".");
    return { path, quote, nth: count(before.toString(), quote) };
  }

  /** Begins a comment on the selected words, else on the current node. */
  async open() {
    if (!this.#address) return announce(document.querySelector("[data-draft-strip]") ? IN_A_DRAFT : "Your role reads only.");
    const { path, ...words } = this.#selected() ?? { path: this.current.path };
    if (!path) return announce("Choose a node first.");
    const address = new URL(this.#address.replace("PATH", path), location.href);
    for (const [name, value] of Object.entries(words)) address.searchParams.set(name, value);
    const form = (await fragment(address.href))?.querySelector("form");
    if (!form) return;
    this.offer.hidden = true;
    if (words.quote && CSS.highlights) CSS.highlights.set(HIGHLIGHT, new Highlight(getSelection().getRangeAt(0).cloneRange()));
    this.#show(form);
    if (!this.place.checkVisibility({ visibilityProperty: true })) document.querySelector("[data-drawer=inspector]").click();
    this.place.parentElement.scrollTop = 0;
    form.querySelector("[name=body]").focus();
  }

  #show(form) {
    this.place.replaceChildren(form);
    form.dispatchEvent(new CustomEvent("form:shown", { bubbles: true }));
  }

  close() {
    const path = rowOf(this.place.querySelector("[name=path]")?.value ?? "");
    this.place.replaceChildren();
    CSS.highlights?.delete(HIGHLIGHT);
    this.rows.find(path)?.querySelector(".node-line").focus({ preventScroll: true });
    return path;
  }

  #cancel(event) {
    if (!event.target.closest("[data-cancel]")) return;
    event.preventDefault();
    this.close();
  }

  async #submit(event) {
    const form = event.target;
    event.preventDefault();
    if (form.dataset.busy) return;
    form.dataset.busy = "1";
    const answer = await send(form, event.submitter);
    delete form.dataset.busy;
    if (!answer) return;
    if (!answer.ok) {
      this.#show(answer.content.querySelector("form"));
      return announce("Nothing was sent.");
    }
    form.dispatchEvent(new CustomEvent("form:taken", { bubbles: true }));
    this.added(answer.content.querySelector("[data-thread]"), this.close());
  }
}
