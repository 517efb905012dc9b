/** Threads answer in place: forms are sent without leaving the page, and what was typed stays when they are refused. */
import { fragment, send } from "./chain/fragments.js";
import { onKey } from "./keys.js";
import "./mentions.js";
import { announce } from "./status.js";

const isPlain = (event) => event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
const threadsHere = () =>
  [...document.querySelectorAll(".thread")].filter((each) => each.checkVisibility() && !each.parentElement.closest(".thread"));
let current = null;

function replace(thread, content) {
  const next = content.querySelector("[data-thread]");
  if (!next) return thread.remove();
  thread.replaceWith(next);
  current = next;
  for (const form of next.querySelectorAll("form[data-keeps]")) form.dispatchEvent(new CustomEvent("form:shown", { bubbles: true }));
  next.querySelector("[role=alert], textarea")?.scrollIntoView({ block: "nearest" });
}

document.addEventListener("submit", async (event) => {
  const form = event.target.closest("form[data-thread-form]");
  const thread = form?.closest("[data-thread]");
  if (!thread) return;
  event.preventDefault();
  if (form.dataset.busy) return;
  form.dataset.busy = "1";
  const answer = await send(form, event.submitter);
  delete form.dataset.busy;
  if (!answer) return;
  if (answer.ok && form.dataset.keeps) form.dispatchEvent(new CustomEvent("form:taken", { bubbles: true }));
  replace(thread, answer.content);
  announce(answer.ok ? "Done." : "Nothing was sent.");
});

/** Inserts the words that the thread is about as a suggestion, and selects them to be typed over. */
document.addEventListener("click", ({ target }) => {
  const button = target.closest("[data-suggest]");
  if (!button) return;
  const { body, quote } = button.form.elements;
  const words = button.value || quote?.value || "";
  const start = body.selectionEnd;
  const lead = `${start && body.value[start - 1] !== "\n" ? "\n" : ""}\`\`\`suggestion\n`;
  body.setRangeText(`${lead}${words}\n\`\`\`\n`, start, start);
  body.focus();
  body.setSelectionRange(start + lead.length, start + lead.length + words.length);
  body.dispatchEvent(new Event("input", { bubbles: true }));
});

document.addEventListener("click", async (event) => {
  const link = event.target.closest("[data-thread-link]");
  if (!link || !isPlain(event)) return;
  event.preventDefault();
  const found = await fragment(link.href);
  if (!found) return;
  const thread = link.closest("[data-thread]");
  replace(thread, found);
  current.querySelector("textarea")?.focus();
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
  const form = event.target.closest(".composer");
  if (!form) return;
  event.preventDefault();
  form.requestSubmit(form.querySelector("button[name=act][value=reply], button[data-kind=primary]"));
});

document.addEventListener(
  "toggle",
  (event) => event.target.matches?.("details.thread") && event.target.open && (current = event.target),
  true,
);

function step(by) {
  const all = threadsHere();
  if (!all.length) return (announce("There are no threads here."), false);
  const place = all.indexOf(current?.closest(".thread:not(.thread .thread)") ?? null);
  current = all.at(place < 0 ? (by > 0 ? 0 : -1) : (place + by + all.length) % all.length);
  if (current.matches("details")) current.open = true;
  current.tabIndex = -1;
  current.focus({ preventScroll: true });
  current.scrollIntoView({ block: "nearest" });
}
if (!document.querySelector("[data-review-panel]")) {
  onKey("n", () => step(1));
  onKey("p", () => step(-1));
}
onKey("a", () => current?.querySelector("button[name=pick]")?.click() ?? false);
onKey("r", () => current?.querySelector("[data-resolve], button[value=reopen]")?.click() ?? false);

const named = document.getElementById(location.hash.slice(1));
if (named instanceof HTMLDetailsElement) named.open = true;
