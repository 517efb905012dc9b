/**
 * Text typed into a form ([data-keeps], named after the chain and the node) is kept in this browser. It goes when the form
 * was accepted, when its chain was deleted for good, or when values were purged ([data-typed-gone]: "7:" of a chain, "purged" all).
 */
const PREFIX = "chainviz-typed:";
const SENT = "chainviz-sent";
const MOST = 40;
const MOST_CHARACTERS = 400_000;

const fieldsOf = (form) =>
  [...form.elements].filter((field) => field.name && field.matches("textarea, input[type=text], input:not([type]), select"));
const asServed = (field) =>
  field.matches("select")
    ? ([...field.options].find((each) => each.defaultSelected)?.value ?? field.options[0]?.value)
    : field.defaultValue;

function keep(form) {
  const typed = Object.fromEntries(
    fieldsOf(form)
      .filter((field) => field.value !== asServed(field))
      .map((field) => [field.name, field.value]),
  );
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
  kept
    .sort((a, b) => age(a) - age(b))
    .slice(0, kept.length - MOST)
    .forEach((key) => localStorage.removeItem(key));
}

function bringBack(form) {
  const kept = JSON.parse(localStorage.getItem(PREFIX + form.dataset.keeps) ?? "null");
  const changed = fieldsOf(form).filter(
    (field) => kept && field.name in kept.typed && field.value === asServed(field) && kept.typed[field.name] !== field.value,
  );
  for (const field of changed) {
    field.value = kept.typed[field.name];
    for (let box = field.closest("details"); box; box = box.parentElement.closest("details")) box.open = true;
    field.dispatchEvent(new Event("input", { bubbles: true }));
  }
  const note = form.querySelector("[data-typed-note]");
  if (changed.length && note) note.hidden = false;
}

document.addEventListener("input", (event) => {
  const form = event.target.closest?.("form[data-keeps]");
  if (form) keep(form);
});

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-forget-typed]");
  if (!button) return;
  const form = button.closest("form");
  form.reset();
  keep(form);
  form.querySelector("[data-typed-note]").hidden = true;
});

/* ---- a page that answers without the form, and is no error, has taken the text ---- */
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.dataset.keeps && !event.defaultPrevented && !form.hasAttribute("hx-post")) sessionStorage.setItem(SENT, form.dataset.keeps);
});

document.addEventListener("htmx:afterRequest", (event) => {
  const { elt, successful, requestConfig } = event.detail;
  if (elt.dataset?.keeps && successful && requestConfig.verb === "post") localStorage.removeItem(PREFIX + elt.dataset.keeps);
});

/* ---- a form that a script put into the page, and took out of it when it was accepted ---- */
document.addEventListener("form:shown", (event) => bringBack(event.target));
document.addEventListener("form:taken", (event) => localStorage.removeItem(PREFIX + event.target.dataset.keeps));

function forgetSent() {
  const sent = sessionStorage.getItem(SENT);
  sessionStorage.removeItem(SENT);
  const [page] = performance.getEntriesByType("navigation");
  const isBack = [...document.querySelectorAll("form[data-keeps]")].some((form) => form.dataset.keeps === sent);
  if (sent && page?.responseStatus === 200 && !isBack) localStorage.removeItem(PREFIX + sent);
}

function forgetGone(which) {
  const start = PREFIX + (which === "purged" ? "" : which);
  for (const key of Object.keys(localStorage)) if (key.startsWith(start)) localStorage.removeItem(key);
}

try {
  forgetSent();
  document.querySelectorAll("[data-typed-gone]").forEach((each) => forgetGone(each.dataset.typedGone));
  document.querySelectorAll("form[data-keeps]").forEach(bringBack);
} catch {
  // storage is switched off
}
