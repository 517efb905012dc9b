/** Files dropped, chosen or pasted are sent one by one; each becomes a row that tells how it went. Switched on by [data-upload]. */
import { onKey } from "./keys.js";
import { announce } from "./status.js";

const AT_ONCE = 2;
const form = document.querySelector("[data-upload]");
const box = document.querySelector("#uploads");
const waiting = [];
let running = 0;

const megabytes = (bytes) => (bytes / 1e6).toLocaleString("en", { maximumFractionDigits: 1, minimumFractionDigits: 1 });
const rowFrom = (template) => document.querySelector(template).content.firstElementChild.cloneNode(true);

export function add(files) {
  const list = [...files];
  for (const file of list) {
    if (file.size > Number(form.dataset.maxBytes)) refuse(file, form.dataset.tooBig);
    else waiting.push({ file, row: progressRow(file), alone: list.length === 1 });
  }
  next();
}

function refuse(file, sentence, row = rowFrom("#refused-row")) {
  row.querySelector("[data-name]").textContent = file.name;
  row.querySelector("[data-sentence]").textContent = sentence;
  row.querySelector("[data-cancel]").addEventListener("click", () => row.remove());
  box.append(row);
  announce(`${file.name}: ${sentence}`);
  return row;
}

function progressRow(file) {
  const row = rowFrom("#upload-row");
  row.querySelector("[data-name]").textContent = file.name;
  row.querySelector("[data-sent]").textContent = `waiting · ${megabytes(file.size)} MB`;
  row.querySelector("progress").setAttribute("aria-label", `Upload of ${file.name}`);
  row.querySelector("[data-cancel]").addEventListener("click", () => {
    row.request?.abort();
    row.remove();
  });
  box.append(row);
  return row;
}

function next() {
  while (running < AT_ONCE && waiting.length) {
    const item = waiting.shift();
    if (item.row.isConnected) send(item);
  }
}

function send({ file, row, alone }) {
  const body = new FormData();
  body.append("file", file, file.name);
  body.append("format", form.elements.format.value);
  if (!alone) body.append("among", "1");
  const request = (row.request = new XMLHttpRequest());
  request.open("POST", form.action);
  request.setRequestHeader("HX-Request", "true");
  request.setRequestHeader("X-CSRFToken", form.elements.csrfmiddlewaretoken.value);
  request.upload.addEventListener("progress", (event) => showSent(row, event));
  request.addEventListener("load", () => finish(request, row, file));
  request.addEventListener("error", () => row.replaceWith(refuse(file, "chainviz does not answer. Is it still running? Nothing was stored.")));
  request.addEventListener("loadend", () => {
    running -= 1;
    next();
  });
  running += 1;
  request.send(body);
}

function showSent(row, event) {
  const all = event.loaded >= event.total;
  row.querySelector("[data-sent]").textContent = all ? "reading…" : `${megabytes(event.loaded)} of ${megabytes(event.total)} MB`;
  row.querySelector("progress").value = (100 * event.loaded) / event.total;
}

function finish(request, row, file) {
  const open = request.getResponseHeader("HX-Redirect");
  if (open) location.assign(open);
  else if (request.status === 413) row.replaceWith(refuse(file, form.dataset.tooBig));
  else if (request.status === 507) row.replaceWith(refuse(file, "The disk of the server is full. Nothing was stored; free some space and send it again."));
  else if (request.status !== 200 && request.status !== 422) {
    row.replaceWith(refuse(file, `chainviz could not take it (error ${request.status}). Nothing was stored.`));
  } else {
    row.insertAdjacentHTML("afterend", request.responseText);
    const answer = row.nextElementSibling;
    row.remove();
    window.htmx.process(answer);
    announce(answer.querySelector("div").textContent.replace(/\s+/g, " ").trim());
    if (request.getResponseHeader("HX-Trigger")) window.htmx.trigger(document.body, "chain:added");
  }
}

function paste(event) {
  if (event.target.closest?.("input, textarea")) return;
  const files = [...event.clipboardData.files];
  const text = event.clipboardData.getData("text/plain");
  if (files.length) add(files);
  else if (text.trim()) add([textFile(text)]);
  else return;
  event.preventDefault();
}

const textFile = (text) => {
  const time = new Date().toTimeString().slice(0, 5).replace(":", ".");
  return new File([text], `Pasted at ${time}.json`, { type: "application/json" });
};

if (form) {
  const input = form.elements.file;
  input.addEventListener("change", () => {
    add(input.files);
    input.value = "";
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const text = form.elements.text.value;
    if (!text.trim()) return form.elements.text.focus();
    add([textFile(text)]);
    form.elements.text.value = "";
  });
  document.addEventListener("paste", paste);
  onKey("u", () => input.click());
}
