/** The State page: keys walk the rows, and the download follows processed_length. */
import { onKey } from "./keys.js";

const rows = () => [...document.querySelectorAll("[data-rows] > li")];

function step(by) {
  const all = rows();
  const at = all.indexOf(document.activeElement);
  const next = all[Math.min(all.length - 1, Math.max(0, at + by))];
  if (!next) return false;
  next.tabIndex = -1;
  next.focus();
}

onKey("j", () => step(1));
onKey("k", () => step(-1));
function press(selector) {
  const button = document.querySelector(selector);
  if (!button?.checkVisibility()) return false;
  button.click();
}

onKey("g p", () => document.querySelector("#divider")?.scrollIntoView({ block: "center" }));
onKey("h", () => press('[name="column"][value="stored"]:not([type])'));
onKey("l", () => press('[name="column"][value="sent"]:not([type])'));
onKey("s", () => press("#export-state"));
onKey("n", () => {
  const settings = document.querySelector("details.settings");
  if (settings) settings.open = true;
  document.querySelector("#next")?.focus();
});

const length = document.querySelector("#processed");
length?.addEventListener("input", () => {
  const link = document.querySelector("#export-state");
  const given = length.value.replaceAll(",", "");
  if (!link || !/^\d{1,9}$/.test(given)) return;
  const address = new URL(link.href);
  address.searchParams.set("processed_length", given);
  link.href = address;
});
