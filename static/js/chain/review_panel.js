/** The review beside the chain: a tab of the inspector, asked for when it is opened and every 20 seconds while it can be seen. */
import { announce } from "../status.js";
import { fragment, send } from "./fragments.js";

const FOLLOW_AFTER = 200; // milliseconds: walking with a held key asks once

export class ReviewPanel {
  #timer = 0;

  /** `panel`: the tab itself; `details`: the other one. Neither is there in a draft. */
  constructor({ tabs, panel, details, current, rows }) {
    Object.assign(this, { tabs, panel, details, current, rows });
    if (!panel) return;
    tabs.addEventListener("click", (event) => {
      const name = event.target.closest("[data-tab]")?.dataset.tab;
      if (name) name === "review" ? this.open() : this.#choose("details");
    });
    panel.addEventListener("submit", (event) => {
      if (!event.target.matches("[data-viewed-form]")) return;
      event.preventDefault();
      this.#mark(event.target).then(() => panel.querySelector("[data-viewed-form] button")?.focus());
    });
    document.body.addEventListener(
      "tick",
      () => this.panel && this.#isSeen && !this.#state?.contains(document.activeElement) && this.refresh(),
    );
  }

  get #state() {
    return this.panel.querySelector("[data-panel]");
  }

  get #isSeen() {
    return this.panel.checkVisibility({ visibilityProperty: true });
  }

  #choose(name) {
    for (const button of this.tabs.querySelectorAll("[data-tab]")) button.setAttribute("aria-pressed", button.dataset.tab === name);
    this.panel.hidden = name !== "review";
    this.details.hidden = name === "review";
    if (name === "details") this.current.inspect();
  }

  async open() {
    if (!this.panel) return false;
    this.#choose("review");
    if (!this.#isSeen) document.querySelector("[data-drawer=inspector]").click();
    await this.refresh();
  }

  /** Another content, such as a draft, has no review of its own. */
  leave() {
    if (!this.panel) return;
    this.#choose("details");
    this.tabs.remove();
    this.panel.remove();
    this.panel = null;
    this.#sections("");
  }

  #address(more = "") {
    return `${this.panel.dataset.address}?at=${this.current.path}${more}`;
  }

  async refresh() {
    const found = await fragment(this.#address());
    if (found) this.#show(found);
  }

  /** What is typed into the form of the verdict stays. */
  #show(content) {
    if (this.#state) this.#state.replaceWith(content.querySelector("[data-panel]"));
    else this.panel.replaceChildren(content);
    this.follow(this.rows);
  }

  /** Rows come and go: sections that were viewed are marked. */
  follow() {
    if (this.panel) this.#sections(this.#state?.dataset.viewed ?? "");
  }

  #sections(viewed) {
    const numbers = new Set(viewed.split(","));
    for (const row of this.rows.list.querySelectorAll(":scope > .section-row"))
      row.toggleAttribute("data-viewed", numbers.has(row.dataset.path.slice(1)));
  }

  /** The reader is at another node. */
  at() {
    clearTimeout(this.#timer);
    if (!this.panel || !this.#isSeen) return;
    this.#timer = setTimeout(async () => {
      const found = await fragment(this.#address("&only=node"));
      const part = found?.querySelector("[data-panel-node]");
      if (part) this.panel.querySelector("[data-panel-node]")?.replaceWith(part);
    }, FOLLOW_AFTER);
  }

  async #mark(form) {
    const answer = await send(form, form.querySelector("button"));
    if (!answer) return;
    this.#show(answer.content);
    announce(this.panel.querySelector("[data-viewed-count]").textContent.trim());
  }

  /** Marks the section of the current node as viewed, or takes the mark back. */
  async viewed() {
    if (!this.panel) return;
    if (!this.current.path) return announce("Choose a node first.");
    const found = await fragment(this.#address("&only=node"));
    const form = found?.querySelector("[data-viewed-form]");
    if (form) await this.#mark(document.adoptNode(form)); // its address is relative to the page
  }

  async finish() {
    if ((await this.open()) === false) return;
    const form = this.panel.querySelector("[data-finish]");
    if (!form) return;
    form.open = true;
    form.querySelector("textarea").focus();
  }

  /** The open thread after the one that was shown last, or before it. Returns its path and number, or null. */
  async step(direction, thread) {
    const found = await fragment(`${this.panel.dataset.step}?from=${this.current.path}&thread=${thread}&dir=${direction}`);
    const { path, number } = found?.querySelector("[data-thread-step]")?.dataset ?? {};
    return path ? { path, number } : null;
  }
}
