/** [data-pick]: a table with boxes to tick: all at once, and how many are, and a filter. Two ticked rows can be compared. */
import { onKey } from "./keys.js";

const boxes = (form) => [...form.querySelectorAll("tbody input[type=checkbox]")];

function tell(form) {
  const all = boxes(form);
  const picked = all.filter((box) => box.checked).length;
  const master = form.querySelector("[data-pick-all]");
  if (master) {
    master.checked = picked > 0 && picked === all.length;
    master.indeterminate = picked > 0 && picked < all.length;
  }
  const count = form.querySelector("[data-picked-count]");
  if (count) count.textContent = `${picked} of ${all.length} picked`;
  const compare = form.querySelector("[data-compare]");
  if (compare) compare.disabled = picked !== 2;
}

document.addEventListener("change", (event) => {
  const form = event.target.closest("[data-pick]");
  if (!form) return;
  if (event.target.matches("[data-pick-all]")) for (const box of boxes(form)) if (!box.closest("tr").hidden) box.checked = event.target.checked;
  tell(form);
});
document.addEventListener("input", (event) => {
  if (!event.target.matches("[data-pick-filter]")) return;
  const wanted = event.target.value.trim().toLowerCase();
  for (const row of event.target.closest("[data-pick]").querySelectorAll("tbody tr")) {
    row.hidden = !row.textContent.toLowerCase().includes(wanted);
  }
});
for (const form of document.querySelectorAll("[data-pick]")) tell(form);
onKey("c", () => {
  const compare = document.querySelector("[data-compare]:not(:disabled)");
  compare?.click();
  return Boolean(compare);
});
