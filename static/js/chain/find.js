/** Find in the whole chain: the server finds, we list, walk and mark. The browser's own find sees only the rows in the page. */
import { announce } from "../status.js";
import { fragment } from "./fragments.js";
import { idOf } from "./paths.js";

const WAIT = 180; // milliseconds after the last key

export class Find {
  #timer = 0;
  #request = null;
  at = -1;

  constructor({ form, current, nodes, minimap }) {
    Object.assign(this, { form, current, nodes, minimap });
    this.input = form.querySelector("[type=search]");
    this.case = form.querySelector("[name=case]");
    this.result = document.querySelector("[data-find-result]");
    form.addEventListener("submit", (event) => event.preventDefault());
    this.input.addEventListener("input", () => this.#later());
    this.case.addEventListener("change", () => this.search());
    this.input.addEventListener("keydown", (event) => this.#key(event));
    this.result.addEventListener("click", (event) => this.#click(event));
    if (this.input.value) this.#arrive();
  }

  /** A hit of the library leads here: its words stand in the field, and its part is the one of the address. */
  async #arrive() {
    const { pathname, search } = location; // the address follows the reader while the answer is on its way
    await this.search();
    if (!new URLSearchParams(search).has("find")) return;
    const path = pathname.split("/at/")[1];
    const index = this.hits.findIndex((hit) => hit.dataset.path === path);
    if (index >= 0) await this.go(index);
    else if (path) await this.#show(path);
  }

  get hits() {
    return [...this.result.querySelectorAll("[data-hit]")];
  }

  get word() {
    return this.input.value;
  }

  #later() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.search(), WAIT);
  }

  #address(after = "") {
    const words = new URLSearchParams({ q: this.word });
    if (this.case.checked) words.set("case", "1");
    if (after) words.set("after", after);
    return `${this.form.action}?${words}`;
  }

  async search() {
    clearTimeout(this.#timer);
    this.#request?.abort();
    this.at = -1;
    this.searched = this.word;
    if (!this.word) {
      this.result.replaceChildren();
      return this.mark();
    }
    this.#request = new AbortController();
    const found = await fragment(this.#address(), { signal: this.#request.signal });
    if (!found) return;
    this.result.replaceChildren(found);
    this.mark();
  }

  async #key(event) {
    if (event.key === "Escape" && this.word) {
      this.input.value = "";
      return this.search();
    }
    if (event.key !== "Enter") return;
    event.preventDefault();
    if (this.searched !== this.word) await this.search();
    await this.walk(event.shiftKey ? -1 : 1);
  }

  #click(event) {
    const hit = event.target.closest("[data-hit]");
    const more = event.target.closest("[data-find-more]");
    if (hit) {
      event.preventDefault();
      this.go(this.hits.indexOf(hit));
    } else if (more) {
      event.preventDefault();
      this.#more(more);
    }
  }

  async #more(link) {
    const found = await fragment(link.href);
    if (!found) return;
    const list = this.result.querySelector("[data-hits]");
    list.append(...found.querySelectorAll("[data-hits] > *"));
    const next = found.querySelector("[data-find-more]");
    next ? link.replaceWith(next) : link.remove();
    this.mark();
  }

  async walk(by) {
    const more = this.result.querySelector("[data-find-more]");
    if (by > 0 && this.at === this.hits.length - 1 && more) await this.#more(more);
    if (!this.hits.length) return announce(this.word ? `No matches for “${this.word}” in this chain.` : "Type what to find first.");
    await this.go((this.at + by + this.hits.length) % this.hits.length);
  }

  async go(index) {
    const hit = this.hits[index];
    if (!hit) return;
    this.hits[this.at]?.removeAttribute("aria-current");
    this.at = index;
    hit.setAttribute("aria-current", "true");
    hit.scrollIntoView({ block: "nearest" });
    const isShown = await this.#show(hit.dataset.path);
    if (!isShown) return;
    const more = this.result.querySelector("[data-find-more]") ? "+" : "";
    announce(`Match ${index + 1} of ${this.hits.length}${more}, in ${hit.firstElementChild.textContent}`);
  }

  async #show(path) {
    const row = await this.current.go(path, { open: true, focus: false });
    if (!row) return false;
    const part = document.getElementById(idOf(path)) ?? row;
    const more = part.querySelector("[data-more][href*='/part/']");
    if (more && !this.#ranges(part).length) await this.nodes.more(more, { find: this.word, ...(this.case.checked && { case: 1 }) });
    this.mark();
    const range = this.#ranges(part)[0] ?? this.#ranges(row.querySelector(":scope > .node-body") ?? row)[0];
    if (!range) return (announce(`${path}: the match is not shown here, for example in an id or a name. The source has it.`), false);
    range.startContainer.parentElement.scrollIntoView({ block: "nearest" });
    return true;
  }

  #ranges(box) {
    const fold = (text) => (this.case.checked ? text : text.toLowerCase());
    const word = fold(this.word);
    const found = [];
    if (!word) return found;
    const walker = document.createTreeWalker(box, NodeFilter.SHOW_TEXT);
    while (walker.nextNode() && found.length < 500) {
      const text = fold(walker.currentNode.data);
      if (text.length !== walker.currentNode.data.length) continue; // places would not fit
      for (let i = text.indexOf(word); i >= 0; i = text.indexOf(word, i + word.length)) {
        const range = new Range();
        range.setStart(walker.currentNode, i);
        range.setEnd(walker.currentNode, i + word.length);
        found.push(range);
      }
    }
    return found;
  }

  /** Marks every hit in sight and in the minimap; the page itself is not changed. */
  mark() {
    if (CSS.highlights) {
      if (this.word) CSS.highlights.set("search-hit", new Highlight(...this.#ranges(this.current.rows.list)));
      else CSS.highlights.delete("search-hit");
    }
    this.minimap?.ticks(this.word ? this.hits.map((hit) => Number(hit.dataset.at)) : []);
  }
}
