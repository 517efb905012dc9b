/** The list of shortcuts, the switch for them, and the shortcuts that work on every page. */
import { focusField } from "./focus_field.js";
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
  focusField(field);
  return Boolean(field);
});

// written into the page when it is opened first: it is as large as a third of a small page
document.querySelector("#help")?.addEventListener("beforetoggle", ({ currentTarget: box }) => {
  const kept = box.querySelector(":scope > template");
  if (!kept) return;
  kept.replaceWith(kept.content);
  const choice = box.querySelector("[data-keys-choice]");
  choice.checked = keysAreOn();
  choice.addEventListener("change", () => switchKeys(choice.checked));
});
