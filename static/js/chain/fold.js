/** What is open: a default for each kind of row, and the rows that differ from it. View state, sent with every window. */
const MOST = 150; // exceptions that an address may carry
const KINDS = ["system", "human", "ai", "tool", "summary"];

export class Fold {
  all = new Set(["human", "final"]);
  sectionsClosed = false;
  #opened = new Set();
  #closed = new Set();

  /** As an address says it, which a page was opened with. */
  constructor(query) {
    const paths = (name) => new Set((query.get(name) ?? "").split(",").filter(Boolean));
    if (query.has("all")) this.all = paths("all");
    this.sectionsClosed = query.get("sections") === "closed";
    [this.#opened, this.#closed] = [paths("opened"), paths("closed")];
  }

  get isAllOpen() {
    return KINDS.every((kind) => this.all.has(kind));
  }

  set(path, open) {
    const [into, from] = open ? [this.#opened, this.#closed] : [this.#closed, this.#opened];
    from.delete(path);
    into.delete(path);
    into.add(path);
    if (into.size > MOST) into.delete(into.values().next().value);
  }

  /** Nodes moved to other paths: `paths` maps the old ones to the new ones. */
  rename(paths) {
    for (const set of [this.#opened, this.#closed]) {
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
  }

  setAll(open) {
    for (const kind of KINDS) this.setKind(kind, open);
  }

  query() {
    const words = { all: this.all, opened: this.#opened, closed: this.#closed };
    const parts = Object.entries(words).filter(([name, set]) => name === "all" || set.size).map(([name, set]) => `${name}=${[...set].join(",")}`);
    if (this.sectionsClosed) parts.push("sections=closed");
    return parts.length ? "&" + parts.join("&") : "";
  }
}
