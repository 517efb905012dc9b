/** Single-key shortcuts: `onKey("j", walk)`, or two keys in a row: `onKey("g l", open)`. Off in fields, and when switched off.
    An action that finds nothing to do returns false, and the key keeps its meaning in the browser. */
const CHOICE = "chainviz-keys";
const actions = new Map();
let first = "";

export const onKey = (keys, action) => actions.set(keys, action);
export const keysAreOn = () => localStorage.getItem(CHOICE) !== "off";
export const switchKeys = (on) => localStorage.setItem(CHOICE, on ? "on" : "off");

const isField = (element) => element.matches?.("input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]");

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (isField(event.target)) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  if (!keysAreOn()) return;
  if (event.target.closest?.("[role=tablist], [role=menu]") && event.key.startsWith("Arrow")) return;
  const action = actions.get(`${first} ${event.key}`) ?? actions.get(event.key);
  first = event.key;
  if (!action || action(event) === false) return;
  event.preventDefault();
  first = "";
});
