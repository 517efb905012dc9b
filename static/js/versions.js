/** The history: at most two boxes are ticked, and the button says what it will compare. Switched on by [data-compare]. */
import { onKey } from "./keys.js";

const form = document.querySelector("[data-compare]");
const boxes = [...document.querySelectorAll("input[name=pick]")];
const picked = boxes.filter((box) => box.checked);
const button = form.querySelector("[data-compare-label]");

function tell() {
  const [older, newer] = picked.map((box) => Number(box.value)).sort((a, b) => a - b);
  const text = form.querySelector("[data-compare-text]");
  if (!text || !button) return;
  text.textContent =
    picked.length === 2
      ? `Ticked: version ${older} and version ${newer}`
      : picked.length
        ? `Ticked: version ${older}. Tick one more to compare.`
        : "Tick two versions to compare them.";
  button.textContent = picked.length === 2 ? `Compare ${older} with ${newer}` : "Compare ticked versions";
  button.parentElement.setAttribute("aria-disabled", picked.length !== 2);
}

for (const box of boxes) {
  box.addEventListener("change", () => {
    if (box.checked) picked.push(box);
    else picked.splice(picked.indexOf(box), 1);
    if (picked.length > 2) picked.shift().checked = false;
    tell();
  });
}
form.addEventListener("submit", (event) => picked.length !== 2 && event.preventDefault());
onKey("g e", () => document.querySelector("[data-explorer]").click());
tell();
