/** Where a text stops being JSON. Browsers tell it in words of their own, some without a place. */
const SPACE = /[ \t\n\r]*/y;
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /true|false|null/y;
const DEEPEST = 500;

/** The first fault as {line, column, what}, or null. */
export function jsonFault(text) {
  try {
    JSON.parse(text);
    return null;
  } catch {
    const reader = { text, at: 0 };
    const what = faultOfValue(reader, 0) || (skip(reader), reader.at < text.length ? "unexpected text after the end" : "this is not JSON");
    const before = text.slice(0, reader.at);
    return { line: before.split("\n").length, column: before.length - before.lastIndexOf("\n"), what };
  }
}

function take(reader, pattern) {
  pattern.lastIndex = reader.at;
  const found = pattern.exec(reader.text);
  if (found) reader.at = pattern.lastIndex;
  return Boolean(found);
}

const skip = (reader) => take(reader, SPACE);
const next = (reader) => (skip(reader), reader.text[reader.at] ?? "");

function faultOfValue(reader, depth) {
  const sign = next(reader);
  if (depth > DEEPEST) return "it is nested too deeply";
  if (sign === "{") return faultOfList(reader, "}", depth, faultOfMember);
  if (sign === "[") return faultOfList(reader, "]", depth, faultOfValue);
  if (sign === '"') return take(reader, STRING) ? "" : "this string is not closed, or a character in it must be escaped";
  if (take(reader, NUMBER) || take(reader, WORD)) return "";
  return sign ? "a value is expected" : "a value is missing at the end";
}

function faultOfMember(reader, depth) {
  if (next(reader) !== '"') return "a key in double quotes is expected";
  if (!take(reader, STRING)) return "this key is not closed, or a character in it must be escaped";
  if (next(reader) !== ":") return "a colon is expected";
  reader.at += 1;
  return faultOfValue(reader, depth);
}

function faultOfList(reader, end, depth, faultOfItem) {
  reader.at += 1;
  if (next(reader) === end) return ((reader.at += 1), "");
  for (;;) {
    const fault = faultOfItem(reader, depth + 1);
    if (fault) return fault;
    const sign = next(reader);
    if (sign !== "," && sign !== end) return `a comma or ${end} is expected`;
    reader.at += 1;
    if (sign === end) return "";
  }
}
