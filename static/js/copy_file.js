/** [data-copy-file="address"]: copies the text of a file without downloading it. [data-copy-text]: copies its value. */
import { announce } from "./status.js";

document.addEventListener("click", async ({ target }) => {
  const button = target.closest("[data-copy-file], [data-copy-text]");
  if (!button) return;
  try {
    await navigator.clipboard.writeText(button.dataset.copyText ?? (await textAt(button.dataset.copyFile)));
    announce("Copied.");
  } catch {
    announce(button.dataset.copyText ? "It could not be copied; select the text." : "It could not be copied; download it.");
  }
});

async function textAt(address) {
  const response = await fetch(address);
  if (!response.ok) throw new Error();
  return response.text();
}
