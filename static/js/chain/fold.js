/** What is open: a default for each kind of row, and the rows that differ from it. View state, sent with every window. */
import { compare, sectionOf } from "./paths.js";

const MOST = 150; // exceptions that an address may carry
const KINDS = ["system", "human", "ai", "tool", "summary"];

export class Fold {
  all = new Set(["human", "final"]);
  sectionsClosed = false;
  #opened = new Set();
  #closed = new Set();
  #runs = new Set(); // one pair of each run of closed pairs that is shown pair by pair

  /** As an address says it, which a page was opened with. */
  constructor(query) {
    const paths = (name) => new Set((query.get(name) ?? "").split(",").filter(Boolean));
    if (query.has("all")) this.all = paths("all");
    this.sectionsClosed = query.get("sections") === "closed";
    [this.#opened, this.#closed, this.#runs] = [paths("opened"), paths("closed"), paths("runs")];
  }

  get isAllOpen() {
    return KINDS.every((kind) => this.all.has(kind));
  }

  /** The section of this node is open, and the run in which it lies, if it lies in one, is shown pair by pair. */
  see(path) {
    const [section, pair] = path.split(".p");
    const head = sectionOf(path);
    if (head !== path && (this.sectionsClosed ? !this.#opened.has(head) : this.#closed.has(head))) this.set(head, true);
    if (!pair) return;
    const known = [...this.#runs].find((each) => each.startsWith(`${section}.`));
    if (known && compare(known, path) <= 0) return; // the last pair of a section lies in none
    this.#runs.delete(known);
    this.#runs.add(path);
  }

  /** A section that closes folds its run, too. */
  #forgetRun(section) {
    for (const set of [this.#runs, this.#opened, this.#closed]) {
      if (set === this.#runs && ![...set].some((path) => path.startsWith(`${section}.`))) return;
      for (const path of set) if (path.startsWith(`${section}.p`)) set.delete(path);
    }
  }

  set(path, open) {
    if (!open) this.#forgetRun(path);
    const [into, from] = open ? [this.#opened, this.#closed] : [this.#closed, this.#opened];
    from.delete(path);
    into.delete(path);
    into.add(path);
    if (into.size > MOST) into.delete(into.values().next().value);
  }

  /** Nodes moved to other paths: `paths` maps the old ones to the new ones. */
  rename(paths) {
    for (const set of [this.#opened, this.#closed, this.#runs]) {
      const renamed = [...set].map((path) => paths.get(path) ?? path);
      set.clear();
      for (const path of renamed) set.add(path);
    }
  }

  /** Everything of one kind opens or folds; exceptions are forgotten. */
  setKind(kind, open) {
    if (kind === "section") this.sectionsClosed = !open;
    else if (open) this.all.add(kind);
    else for (const gone of kind === "ai" ? ["ai", "final"] : [kind]) this.all.delete(gone);
    this.#opened.clear();
    this.#closed.clear();
    this.#runs.clear();
  }

  setAll(open) {
    for (const kind of KINDS) this.setKind(kind, open);
  }

  query() {
    const words = { all: this.all, opened: this.#opened, closed: this.#closed, runs: this.#runs };
    const parts = Object.entries(words)
      .filter(([name, set]) => name === "all" || set.size)
      .map(([name, set]) => `${name}=${[...set].join(",")}`);
    if (this.sectionsClosed) parts.push("sections=closed");
    return parts.length ? "&" + parts.join("&") : "";
  }
}
