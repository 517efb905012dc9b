/** The button of the first page says how many sessions the ticked agents have. */
const form = document.querySelector("[data-found]");
const button = form?.querySelector("[data-show-them]");

function count() {
  const boxes = [...form.querySelectorAll("[name=agent]")];
  const ticked = boxes.filter((box) => box.checked);
  const sessions = ticked.reduce((sum, box) => sum + Number(box.dataset.sessions), 0);
  const number = sessions ? ` ${sessions.toLocaleString("en")}${ticked.some((box) => !box.dataset.sessions) ? "+" : ""}` : "";
  button.textContent = ticked.length === boxes.length ? `Show all${number}` : `Show${number || " them"}`;
  button.disabled = !ticked.length;
}

form?.addEventListener("change", count);
if (form) count();
