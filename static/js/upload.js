/** Files dropped, chosen or pasted are sent one by one; each is a line of the tray that tells how it went. Switched on by [data-upload]. */
import { onKey } from "./keys.js";
import { open, sending } from "./tray.js";

const AT_ONCE = 2;
const LONGEST_ERROR = 4000;
const form = document.querySelector("[data-upload]");
const uploads = document.querySelector("#uploads");
const waiting = [];
let running = 0;

const megabytes = (bytes) => (bytes / 1e6).toLocaleString("en", { maximumFractionDigits: 1, minimumFractionDigits: 1 });

export function add(files) {
  const list = [...files];
  for (const file of list) {
    if (file.size > Number(form.dataset.maxBytes)) sending.append(refused(file, form.dataset.tooBig));
    else queue(file, list.length === 1);
  }
  open();
  next();
}

function queue(file, alone) {
  const row = progressRow(file);
  waiting.push({ file, row, alone });
  sending.append(row);
}

function rowFrom(template, file) {
  const row = document.querySelector(template).content.firstElementChild.cloneNode(true);
  row.querySelector("[data-name]").textContent = row.querySelector("[data-name]").title = file.name;
  return row;
}

/** `again`: whether sending it once more may help. */
function refused(file, sentence, again = false) {
  const row = rowFrom("#refused-row", file);
  row.querySelector("[data-sentence]").textContent = sentence;
  row.querySelector("[data-cancel]").addEventListener("click", () => row.remove());
  const retry = row.querySelector("[data-retry]");
  retry.setAttribute("aria-label", `Retry ${file.name}`);
  if (!again) retry.remove();
  retry.addEventListener("click", () => {
    row.remove();
    queue(file, false);
    next();
  });
  return row;
}

function progressRow(file) {
  const row = rowFrom("#upload-row", file);
  row.querySelector("[data-sent]").textContent = "waiting";
  row.querySelector("progress").setAttribute("aria-label", `Upload of ${file.name}`);
  row.querySelector("[data-cancel]").addEventListener("click", () => {
    row.request?.abort();
    row.remove();
  });
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
  request.addEventListener("error", () =>
    row.replaceWith(refused(file, "chainviz does not answer. Is it still running? Nothing was stored.", true)),
  );
  request.addEventListener("loadend", () => {
    running -= 1;
    next();
    if (!running) window.htmx.trigger(document.body, "tray:changed");
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
  const address = request.getResponseHeader("HX-Redirect");
  if (address) location.assign(address);
  else if (request.status === 413) row.replaceWith(refused(file, form.dataset.tooBig));
  else if (request.status === 507)
    row.replaceWith(refused(file, "The server’s disk is full. Nothing was stored; free some space and retry.", true));
  else if (request.status !== 200 && request.status !== 422) {
    row.replaceWith(refused(file, `chainviz could not take it (error ${request.status}). Nothing was stored.`, true));
  } else {
    if (request.status === 200 && file.field) file.field.value = ""; // refused, the text stays to be corrected
    uploads.insertAdjacentHTML("beforeend", request.responseText);
    row.remove();
    window.htmx.process(uploads);
    if (request.getResponseHeader("HX-Trigger")) window.htmx.trigger(document.body, "chain:added");
  }
}

function paste(event) {
  if (event.target.closest?.("input, textarea")) return;
  const files = [...event.clipboardData.files];
  const text = event.clipboardData.getData("text/plain");
  if (files.length) add(files);
  else if (mayBeError(text)) openText(text);
  else if (text.trim()) add([textFile(text)]);
  else return;
  event.preventDefault();
}

/** An API's error is looked up by the server, which reads everything else as a transcript. */
const mayBeError = (text) => form.dataset.open && text.length <= LONGEST_ERROR && /error|invalid|\b[45]\d\d\b|tool_|call_/i.test(text);

function openText(text) {
  const sent = document.createElement("form");
  Object.assign(sent, { method: "post", action: form.dataset.open, hidden: true });
  for (const [name, value] of Object.entries({ text, csrfmiddlewaretoken: form.elements.csrfmiddlewaretoken.value })) {
    sent.append(Object.assign(document.createElement("textarea"), { name, value }));
  }
  document.body.append(sent);
  sent.submit();
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
    add([Object.assign(textFile(text), { field: form.elements.text })]);
  });
  document.addEventListener("paste", paste);
  onKey("u", () => input.click());
}
