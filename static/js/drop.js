/** Files may be dropped anywhere on the page; the whole page says so while they are dragged. */
import { add } from "./upload.js";

const carriesFiles = (event) => event.dataTransfer?.types.includes("Files");
let depth = 0;

const show = (change) => document.body.toggleAttribute("data-dragging", (depth = Math.max(0, depth + change)) > 0);

addEventListener("dragenter", (event) => carriesFiles(event) && show(1));
addEventListener("dragleave", (event) => carriesFiles(event) && show(-1));
addEventListener("dragover", (event) => carriesFiles(event) && event.preventDefault());
addEventListener("drop", (event) => {
  if (!carriesFiles(event)) return;
  event.preventDefault();
  show(-depth);
  add(event.dataTransfer.files);
});
