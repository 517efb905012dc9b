/** Keys that undo and redo a step of a draft, on every page that has the buttons. */
import { onKey } from "./keys.js";

onKey("z", () => document.querySelector("[data-action=undo]:not(:disabled)")?.click());
onKey("Z", () => document.querySelector("[data-action=redo]:not(:disabled)")?.click());
