/** [data-pick]: a table with boxes to tick: all at once, how many are, and the sum of their tokens and costs; [data-elsewhere] are
    ticked on other pages. Two or more ticked rows can be compared, and [data-pick-everything] stands for the rows of all pages. */
import { onKey } from "./keys.js";

const boxes = (form) => [...form.querySelectorAll("tbody input[type=checkbox]")];

const number = (text) => Number(text).toLocaleString("en");
const picks = ({ dataset }, here, shown) => `${number(here + Number(dataset.elsewhere ?? 0))} of ${number(dataset.total ?? shown)} ticked`;

const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const money = new Intl.NumberFormat("en", { style: "currency", currency: "USD" });
const MILLION = 1e6; // costs are in millionths of a dollar

/** The sum of what the ticked rows record; "" if that is nothing. */
function sum(ticked) {
  const add = (name) => {
    const recorded = ticked.map((box) => box.closest("tr").dataset[name]).filter(Boolean);
    return recorded.length ? recorded.reduce((total, each) => total + Number(each), 0) : null;
  };
  const [tokens, cost] = [add("tokens"), add("cost")];
  const dollars = cost && cost < MILLION / 100 ? "<$0.01" : money.format(cost / MILLION);
  return (tokens === null ? "" : ` · ${compact.format(tokens).replace("K", "k")} tokens`) + (cost === null ? "" : ` · ${dollars}`);
}

function tell(form) {
  const all = boxes(form);
  const ticked = all.filter((box) => box.checked);
  const picked = ticked.length;
  const master = form.querySelector("[data-pick-all]");
  if (master) {
    master.checked = picked > 0 && picked === all.length;
    master.indeterminate = picked > 0 && picked < all.length;
  }
  const count = form.querySelector("[data-picked-count]");
  const everything = form.querySelector("[data-pick-everything]:checked");
  if (count) count.textContent = everything ? `${everything.dataset.pickEverything} ticked` : picks(count, picked, all.length);
  const total = form.querySelector("[data-picked-sum]");
  if (total) total.textContent = everything ? ` · ${everything.dataset.sum}` : sum(ticked);
  const compare = form.querySelector("[data-compare]");
  if (compare) compare.disabled = picked < 2 || Boolean(everything);
}

document.addEventListener("change", (event) => {
  const form = event.target.closest("[data-pick]");
  if (!form) return;
  if (event.target.matches("[data-pick-all]")) for (const box of boxes(form)) box.checked = event.target.checked;
  tell(form);
});
// Enter on a box sends the form by its main button, not by the first one in the page.
document.addEventListener("keydown", (event) => {
  const main =
    event.key === "Enter" && event.target.matches("[data-pick] tbody input") && event.target.form?.querySelector("[data-pick-act]");
  if (!main) return;
  event.preventDefault();
  main.click();
});
document.addEventListener("htmx:afterSwap", (event) => {
  const form = event.target.closest?.("[data-pick]") ?? event.target.querySelector?.("[data-pick]");
  if (form) tell(form);
});
for (const form of document.querySelectorAll("[data-pick]")) tell(form);
onKey("c", () => {
  const compare = document.querySelector("[data-compare]:not(:disabled)");
  compare?.click();
  return Boolean(compare);
});
