/** The list of shortcuts, the switch for them, and the shortcuts that work on every page. */
import { keysAreOn, onKey, switchKeys } from "./keys.js";

onKey("?", () => document.querySelector("#help")?.togglePopover());
onKey("g l", () => location.assign("/"));
onKey("g i", () => {
  const inbox = document.querySelector("[data-inbox]");
  inbox?.click();
  return Boolean(inbox);
});
onKey("/", () => {
  const field = document.querySelector("[data-search]");
  field?.focus();
  return Boolean(field);
});

const choice = document.querySelector("[data-keys-choice]");
if (choice) {
  choice.checked = keysAreOn();
  choice.addEventListener("change", () => switchKeys(choice.checked));
}
