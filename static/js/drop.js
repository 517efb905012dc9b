/** Files may be dropped anywhere on the page; the whole page says so while they are dragged. A file field with
    [data-file-field] takes them, to be sent with its form; else they are uploaded at once. */
import { add } from "./upload.js";

const carriesFiles = (event) => event.dataTransfer?.types.includes("Files");
const field = document.querySelector("[data-file-field]");
let depth = 0;

const show = (change) => document.body.toggleAttribute("data-dragging", (depth = Math.max(0, depth + change)) > 0);

addEventListener("dragenter", (event) => carriesFiles(event) && show(1));
addEventListener("dragleave", (event) => carriesFiles(event) && show(-1));
addEventListener("dragover", (event) => carriesFiles(event) && event.preventDefault());
addEventListener("drop", (event) => {
  if (!carriesFiles(event)) return;
  event.preventDefault();
  show(-depth);
  take(event.dataTransfer.files);
});

function take(files) {
  if (!field) return add(files);
  field.files = files;
  field.dispatchEvent(new Event("change"));
  field.focus();
}
