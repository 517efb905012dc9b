/** Forms of a draft: JSON is checked while typing ([data-json]), and keys. What is typed is kept by unsent_text.js. */
import { jsonFault } from "./json-fault.js";
import { onKey } from "./keys.js";
import "./undo_keys.js";

onKey("s", () => document.querySelector("[data-action=save]")?.focus());

document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.defaultPrevented) return;
  const form = event.target.closest?.("form");
  if (!form) return;
  event.preventDefault();
  // a button may be outside its form
  form.requestSubmit([...form.elements].find((each) => each.matches("[data-action=apply], [type=submit]")));
});

document.addEventListener("input", (event) => {
  if (event.target.matches?.("[data-json]")) check(event.target);
});

document.addEventListener("reset", (event) => setTimeout(() => event.target.querySelectorAll("[data-json]").forEach(check)));

document.addEventListener("form:shown", (event) => event.target.querySelectorAll("[data-json]").forEach(check));

/* ---- JSON, checked while typing ---- */
function check(field) {
  const verdict = document.getElementById(field.dataset.json);
  const fault = faultIn(field.value);
  verdict.dataset.state = fault ? "problem" : "ok";
  verdict.querySelector("span").textContent = fault || "Valid JSON";
  const use = verdict.querySelector("use");
  use.setAttribute("href", use.getAttribute("href").replace(/#.*/, fault ? "#problem" : "#ok"));
  field.setAttribute("aria-invalid", Boolean(fault));
}

function faultIn(text) {
  if (!text.trim()) return "Empty: write {} for no arguments";
  const fault = jsonFault(text);
  return fault ? `Invalid JSON at line ${fault.line}, column ${fault.column}: ${fault.what}` : "";
}

/* ---- a job has made its step: the draft takes the place of the waiting page, so that Back leads to the choices ---- */
document.addEventListener("job:done", (event) => location.replace(event.detail.href));

/* ---- "split here" takes the place of the cursor ---- */
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-split-at-cursor]");
  if (!button) return;
  const field = document.getElementById(button.dataset.splitAtCursor);
  button.form.elements.at.value = [...field.value.slice(0, field.selectionStart)].length; // characters, not UTF-16 units
});

/* ---- one side of a conflict for all nodes ---- */
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-choose-side]");
  if (!button) return;
  event.preventDefault();
  button.form.querySelectorAll(`input[type=radio][value=${button.dataset.chooseSide}]`).forEach((field) => (field.checked = true));
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
