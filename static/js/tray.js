/** The tray of uploads: its head counts its lines, the end of a batch is announced once, and focus stays in it when a line
    goes. Switched on by [data-tray]. */
import { onKey } from "./keys.js";
import { announce } from "./status.js";

const OUTCOMES = ["to choose", "failed", "uploading", "importing", "added", "already uploaded"];
const UNDER_WAY = ["uploading", "importing"];
const FEW = 6;
const PHONE = 832;
const SETTLED_MS = 400;

const tray = document.querySelector("[data-tray]");
const details = tray?.querySelector("details");
const lines = () => [...tray.querySelectorAll(".tray-line")];
let isUnderWay = false;
let ending = 0;
let left = -1;
let before = new Map(); // files of each outcome when nothing was under way last

export const sending = tray?.querySelector("[data-sending]");

/** Files are about to be sent: the tray opens, unless there are too many lines or too little room. */
export function open() {
  if (lines().length <= FEW && innerWidth > PHONE) details.open = true;
}

function tally() {
  const counts = new Map();
  for (const { dataset } of lines()) counts.set(dataset.outcome, (counts.get(dataset.outcome) ?? 0) + Number(dataset.times));
  return counts;
}

const total = (counts) => [...counts.values()].reduce((sum, each) => sum + each, 0);
const title = (counts) => `${total(counts).toLocaleString("en")} ${total(counts) === 1 ? "file" : "files"}`;
const summary = (counts) =>
  OUTCOMES.filter((each) => counts.has(each))
    .map((each) => `${counts.get(each)} ${each}`)
    .join(", ");

function count() {
  const counts = tally();
  tray.querySelector("[data-tray-title]").textContent = title(counts);
  tray.querySelector("[data-tray-summary]").textContent = summary(counts);
  const was = isUnderWay || ending;
  isUnderWay = UNDER_WAY.some((each) => counts.has(each));
  clearTimeout(ending);
  ending = was && !isUnderWay ? setTimeout(tellEnd, SETTLED_MS) : 0;
  if (!was && !isUnderWay) before = counts;
  if (left >= 0) keepFocus();
}

/** Lines that are replaced one after the other do not end a batch; files that were there before are not told again. */
function tellEnd() {
  const counts = tally();
  const batch = new Map([...counts].map(([each, times]) => [each, times - (before.get(each) ?? 0)]).filter(([, times]) => times > 0));
  ending = 0;
  before = counts;
  if (batch.has("failed") && innerWidth > PHONE) details.open = true; // why stands in its line
  if (total(batch) === 1) announce(told(lines().findLast((line) => batch.has(line.dataset.outcome) && line.querySelector("b"))));
  else if (batch.size) announce(`${title(batch)}: ${summary(batch)}.`);
}

const told = (line) => `${line.querySelector("b").textContent}: ${line.querySelector(".tray-text").textContent.trim()}`;

function keepFocus() {
  const acting = lines().filter((line) => line.querySelector("[data-dismiss], [data-cancel]"));
  const next = acting[Math.min(left, acting.length - 1)];
  left = -1;
  if (document.activeElement && document.activeElement !== document.body) return;
  if (next) next.querySelector("[data-dismiss], [data-cancel]").focus();
  else document.querySelector("main").focus();
}

if (tray) {
  if (innerWidth <= PHONE) details.open = false;
  tray.dataset.ready = "";
  before = tally();
  isUnderWay = UNDER_WAY.filter((each) => before.delete(each)).length > 0;
  new MutationObserver(count).observe(tray.querySelector(".tray-scroll"), { childList: true, subtree: true });
  tray.addEventListener(
    "click",
    (event) => {
      const line = event.target.closest("[data-dismiss]")?.closest(".tray-line");
      if (line) left = lines().indexOf(line);
    },
    true,
  );
  tray.addEventListener("submit", (event) => {
    if (event.target.matches("[data-dismiss-all]")) {
      left = 0;
      for (const line of sending.querySelectorAll("[data-outcome=failed]")) line.remove();
    }
    if (event.target.matches("[data-retry-failed]")) for (const button of sending.querySelectorAll("[data-retry]")) button.click();
  });
  onKey("t", () => {
    if (!lines().length) return false;
    details.open = !details.open;
    tray.querySelector("summary").focus();
    return true;
  });
}
