/** Forms of a draft: typed text is kept in this browser ([data-keeps]), JSON is checked while typing ([data-json]), and keys. */
import { jsonFault } from "./json-fault.js";
import { onKey } from "./keys.js";

const PREFIX = "chainviz-typed:";
const MOST = 40;
const MOST_CHARACTERS = 400_000;

onKey("s", () => document.querySelector("[data-action=save]")?.focus());
onKey("z", () => document.querySelector("[data-action=undo]:not(:disabled)")?.click());
onKey("Z", () => document.querySelector("[data-action=redo]:not(:disabled)")?.click());

document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
  const form = event.target.closest?.("form");
  if (!form) return;
  event.preventDefault();
  form.requestSubmit(form.querySelector("[data-action=apply], [type=submit]"));
});

/* ---- nothing typed is lost: a form's text stays until the version it was typed for has changed ---- */
const fieldsOf = (form) => [...form.elements].filter((field) => field.name && field.matches("textarea, input[type=text], input:not([type]), select"));
const asServed = (field) => (field.matches("select") ? [...field.options].find((each) => each.defaultSelected)?.value ?? field.options[0]?.value : field.defaultValue);

function keep(form) {
  const typed = Object.fromEntries(fieldsOf(form).filter((field) => field.value !== asServed(field)).map((field) => [field.name, field.value]));
  const key = PREFIX + form.dataset.keeps;
  try {
    if (!Object.keys(typed).length) return localStorage.removeItem(key);
    const text = JSON.stringify({ at: Date.now(), typed });
    if (text.length < MOST_CHARACTERS) localStorage.setItem(key, text);
    forgetOldest();
  } catch {
    // storage is full or switched off: the server still answers with the text when a form fails
  }
}

function forgetOldest() {
  const kept = Object.keys(localStorage).filter((key) => key.startsWith(PREFIX));
  if (kept.length <= MOST) return;
  const age = (key) => JSON.parse(localStorage.getItem(key)).at;
  kept.sort((a, b) => age(a) - age(b)).slice(0, kept.length - MOST).forEach((key) => localStorage.removeItem(key));
}

function bringBack(form) {
  const kept = JSON.parse(localStorage.getItem(PREFIX + form.dataset.keeps) ?? "null");
  const changed = fieldsOf(form).filter((field) => kept && field.name in kept.typed && field.value === asServed(field) && kept.typed[field.name] !== field.value);
  for (const field of changed) {
    field.value = kept.typed[field.name];
    field.dispatchEvent(new Event("input", { bubbles: true }));
  }
  const note = form.querySelector("[data-typed-note]");
  if (changed.length && note) note.hidden = false;
}

document.addEventListener("input", (event) => {
  const form = event.target.closest?.("form[data-keeps]");
  if (form) keep(form);
  if (event.target.matches?.("[data-json]")) check(event.target);
});

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-forget-typed]");
  if (!button) return;
  const form = button.closest("form");
  form.reset();
  keep(form);
  form.querySelector("[data-typed-note]").hidden = true;
  form.querySelectorAll("[data-json]").forEach(check);
});

/* ---- JSON, checked while typing ---- */
function check(field) {
  const verdict = document.getElementById(field.dataset.json);
  const fault = faultIn(field.value);
  verdict.dataset.state = fault ? "problem" : "ok";
  verdict.querySelector("span").textContent = fault || "valid JSON";
  const use = verdict.querySelector("use");
  use.setAttribute("href", use.getAttribute("href").replace(/#.*/, fault ? "#problem" : "#ok"));
  field.setAttribute("aria-invalid", Boolean(fault));
}

function faultIn(text) {
  if (!text.trim()) return "empty: JSON is expected here, {} for no arguments";
  const fault = jsonFault(text);
  return fault ? `not valid JSON at line ${fault.line}, column ${fault.column}: ${fault.what}` : "";
}

/* ---- "split here" takes the place of the cursor ---- */
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-split-at-cursor]");
  if (!button) return;
  const field = document.getElementById(button.dataset.splitAtCursor);
  button.form.elements.at.value = [...field.value.slice(0, field.selectionStart)].length; // characters, not UTF-16 units
});

/* ---- all fixes at once ---- */
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-choose-all]");
  if (!button) return;
  const boxes = [...button.form.querySelectorAll("input[name=fix]")];
  const every = boxes.every((box) => box.checked);
  boxes.forEach((box) => (box.checked = !every));
});

document.querySelectorAll("[data-json]").forEach(check);
document.querySelectorAll("form[data-keeps]").forEach(bringBack);
