/** Paths such as s2, s2.h.m0, s2.p1.m0.c2: their order in the chain, and the row that shows them. */
const numbers = (path) => {
  const found = /^s(\d+)(?:\.(?:(h)|p(\d+))(?:\.m(\d+))?)?/.exec(path) ?? [];
  return [Number(found[1] ?? 0), found[2] ? 0 : found[3] ? Number(found[3]) : -1, found[2] ? Number(found[4] ?? 0) : 0];
};

export function compare(one, other) {
  const [a, b] = [numbers(one), numbers(other)];
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2];
}

/** A row that stands for many closed pairs, and has the path of the first one. */
export const isRun = (row) => row.hasAttribute("data-run");
export const idOf = (path) => path.replaceAll(".", "-");
export const sectionOf = (path) => path.split(".")[0];
export const rowOf = (path) => /^s\d+(?:\.h\.m\d+|\.p\d+)?/.exec(path)?.[0] ?? path;
