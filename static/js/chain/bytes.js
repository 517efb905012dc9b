/** The chart of bytes: its levels open in place, and single parts of it can be selected. */
import { announce } from "../status.js";
import { fragment } from "./fragments.js";

const MOST = 100; // paths that an address may carry
const KINDS = { result: "result", call: "arguments" }; // as Redact names them; anything else is a text

const isPlain = (event) => event.button === 0 && !event.ctrlKey && !event.metaKey && !event.altKey;
const sizes = [
  [1e9, "GB"],
  [1e6, "MB"],
  [1e3, "KB"],
];
function bytes(size) {
  const [unit, name] = sizes.find(([unit]) => size >= unit) ?? [1, "B"];
  return `${unit > 1 ? Number((size / unit).toPrecision(3)) : size} ${name}`;
}

async function show(chart, address, focus = "") {
  const found = await fragment(address);
  if (!found) return;
  const label = document.activeElement?.ariaLabel;
  const isInside = chart.contains(document.activeElement);
  const fresh = found.firstElementChild;
  chart.replaceWith(fresh);
  if (!isInside) return;
  const again = label && [...fresh.querySelectorAll("a[aria-label]")].find((link) => link.ariaLabel === label);
  (again || fresh.querySelector(focus || "[data-up], a"))?.focus({ preventScroll: true });
}

/** A part is selected by hand; of a larger block its level opens with the results in it selected. */
function select(chart, block) {
  if (block.hasAttribute("data-part")) pick(chart, block);
  else show(chart, block.dataset.select, "[data-pick-redact], [data-pick-clear]");
}

/** Selects a part, or takes it out of the selection. */
function pick(chart, part) {
  const picked = () => [...chart.querySelectorAll("[data-part][data-picked]")];
  if (!part.hasAttribute("data-picked") && picked().length >= MOST)
    return announce(`At most ${MOST} parts can be selected one by one. Choose a bar for more.`);
  if (!chart.hasAttribute("data-by-hand")) for (const other of chart.querySelectorAll(".picked")) other.classList.remove("picked");
  chart.setAttribute("data-by-hand", "");
  part.toggleAttribute("data-picked");
  part.classList.toggle("picked");
  tell(chart, picked());
}

function tell(chart, parts) {
  const box = chart.querySelector("[data-pick]");
  const kinds = new Set(parts.map((part) => part.dataset.kind));
  const noun = `${kinds.size === 1 && kinds.has("result") ? "result" : "part"}${parts.length === 1 ? "" : "s"}`;
  const size = parts.reduce((sum, part) => sum + Number(part.dataset.size), 0);
  box.toggleAttribute("data-empty", !parts.length);
  box.querySelector("[data-pick-title]").textContent = parts.length ? `${parts.length} ${noun} selected` : "Nothing selected";
  box.querySelector("[data-pick-words]").textContent = parts.length ? bytes(size) : "";
  const redact = box.querySelector("[data-pick-redact]");
  if (!redact) return;
  redact.hidden = !parts.length;
  redact.querySelector("[data-pick-action]").textContent =
    parts.length === 1 ? `Redact this ${noun}` : `Redact these ${parts.length} ${noun}`;
  const names = new Set([...kinds].map((kind) => KINDS[kind] ?? "text"));
  const paths = parts.map((part) => part.dataset.part).join(",");
  redact.href = `${chart.dataset.redact}&policy=by_hand&parts=${[...names].join(",")}&paths=${paths}`;
}

document.addEventListener("click", (event) => {
  const chart = event.target.closest("[data-bytes]");
  const link = chart && isPlain(event) && event.target.closest("a");
  if (!link) return;
  if (event.shiftKey && link.matches("[data-part], [data-select]")) {
    event.preventDefault();
    select(chart, link);
  } else if (!event.shiftKey && link.matches("[data-level]")) {
    event.preventDefault();
    show(chart, link.getAttribute("href"));
  }
});
/** A link beside the chain opens the chart in its box. */
document.addEventListener("click", async (event) => {
  const link = isPlain(event) && !event.shiftKey && event.target.closest("[data-open-bytes]");
  const box = link && document.querySelector(".chart-box");
  if (!box) return;
  event.preventDefault();
  box.removeAttribute("data-lazy");
  box.open = true;
  const found = await fragment(link.getAttribute("href"));
  if (found) box.querySelector("[data-lazy-body]").replaceChildren(found);
  box.querySelector("[data-bytes] a")?.focus();
});
document.addEventListener("keydown", (event) => {
  const chart = event.target.closest?.("[data-bytes]");
  if (!chart || event.ctrlKey || event.metaKey || event.altKey) return;
  const block = event.target.closest("[data-part], [data-select]");
  const up = [...chart.querySelectorAll("[data-up]")].at(-1);
  if (event.key === "x" && block) select(chart, block);
  else if (event.key === "Backspace" && up) show(chart, up.getAttribute("href"));
  else if (event.key === "Escape" && chart.querySelector("[data-pick-clear]"))
    show(chart, chart.querySelector("[data-pick-clear]").getAttribute("href"));
  else return;
  event.preventDefault();
  event.stopPropagation();
});
document.addEventListener("pointerover", (event) => {
  const chart = event.target.closest?.(".bytes-chart");
  if (chart) chart.parentElement.title = event.target.closest("[aria-label]")?.ariaLabel ?? "";
});
