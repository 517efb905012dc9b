/** Edits a node where it stands: its form takes the place of what the row shows. Refused, the form stays with all that was typed. */
import { announce } from "../status.js";
import { fragment, send } from "./fragments.js";
import { heightOf, reach } from "./room.js";

const AROUND = { wide: 300, narrow: 350 }; // of a form beside the texts of its node, before it is known
const narrow = matchMedia("(max-width: 52rem)");

const line = (row) => row.querySelector(":scope > .node-line");

export class RowEditor {
  form = null;

  /** `applied(strip)`: shows what the draft holds after an edit. */
  constructor({ rows, applied }) {
    Object.assign(this, { rows, applied });
    rows.list.addEventListener("submit", (event) => {
      if (event.target !== this.form) return;
      event.preventDefault();
      this.#apply(event.submitter);
    });
    rows.list.addEventListener("click", (event) => event.target.closest("[data-action=cancel]") && this.close());
    rows.list.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !this.form?.contains(event.target) || event.defaultPrevented) return;
      event.preventDefault();
      this.close();
    });
  }

  async open(row, address) {
    if (this.form?.isConnected && this.form.parentElement === row) return this.#focus();
    const sent = fragment(address);
    const room = this.#put(row, () => this.#makeRoom(row));
    const form = (await sent)?.querySelector("form[data-keeps]");
    if (this.form !== room) return; // closed meanwhile, or another row was opened
    if (!form) return void location.assign(address); // what cannot be edited here has a page that says why
    this.#put(row, () => this.#show(row, form));
    this.#focus();
  }

  /** Puts something in the place of what the row shows, which stays where it is in the window. */
  #put(row, show) {
    const place = row.getBoundingClientRect().top;
    this.close(false);
    show();
    this.rows.box.scrollTop += row.getBoundingClientRect().top - place;
    reach(row, this.rows.box);
    return this.form;
  }

  /** What stands in the row until its form has come, about as high: a slow answer moves little then. */
  #makeRoom(row) {
    const shown = row.getBoundingClientRect().height - line(row).getBoundingClientRect().height;
    const texts = line(row).getAttribute("aria-expanded") === "true" ? shown : heightOf(row, this.rows.box);
    const around = narrow.matches ? AROUND.narrow : AROUND.wide;
    this.form = document.createElement("div");
    this.form.className = "row-form";
    this.form.style.blockSize = `${Math.min(around + texts, 2 * this.rows.box.clientHeight)}px`;
    row.setAttribute("aria-busy", "true");
    row.append(this.form);
  }

  close(focus = true) {
    const row = this.form?.closest("[data-path]");
    this.form?.remove();
    this.form = null;
    row?.removeAttribute("aria-busy");
    for (const notice of row?.querySelectorAll(":scope > [data-refused]") ?? []) notice.remove();
    if (row && focus) line(row).focus({ preventScroll: true });
  }

  #show(row, form) {
    form.classList.add("row-form");
    this.form = form;
    row.removeAttribute("aria-busy");
    row.append(form);
    form.dispatchEvent(new CustomEvent("form:shown", { bubbles: true }));
  }

  #focus() {
    const found = ["[aria-invalid=true]", "textarea", "select"].map((each) => this.form.querySelector(each)).find(Boolean);
    found?.focus({ preventScroll: true });
    if (found) reach(found, this.rows.box);
  }

  async #apply(button) {
    const { form } = this;
    if (form.dataset.busy) return;
    form.dataset.busy = "1";
    const row = form.closest("[data-path]");
    const sent = send(form, button);
    // folded at once: rows that move long after a key was pressed would startle
    form.hidden = true;
    row.setAttribute("aria-busy", "true");
    line(row).focus({ preventScroll: true });
    const answer = await sent;
    delete form.dataset.busy;
    row.removeAttribute("aria-busy");
    form.hidden = false;
    if (!answer || form !== this.form) return form.isConnected && form === this.form && this.#focus();
    if (answer.ok) {
      form.dispatchEvent(new CustomEvent("form:taken", { bubbles: true }));
      this.close();
      return this.applied(answer.content.querySelector("[data-draft-strip]"));
    }
    this.#refused(answer.content);
  }

  #refused(content) {
    const row = this.form.closest("[data-path]");
    const again = content.querySelector("form[data-keeps]");
    if (again) {
      this.close(false);
      this.#show(row, again);
    } else {
      const box = document.createElement("div");
      box.dataset.refused = "";
      box.append(...[...content.children].filter((each) => each.matches(".notice, .cluster"))); // what was typed is in the form
      this.form.before(box);
    }
    const alert = row.querySelector("[role=alert]");
    const wrong = row.querySelector("[aria-invalid=true]");
    if (wrong) wrong.scrollIntoView({ block: "center" });
    else alert?.scrollIntoView({ block: "nearest" });
    if (!alert) announce("Nothing was changed.");
    if (again) this.#focus();
  }
}
