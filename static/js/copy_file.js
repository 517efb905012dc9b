/** [data-copy-file="address"]: copies the text of a file without downloading it. */
import { announce } from "./status.js";

document.addEventListener("click", async ({ target }) => {
  const button = target.closest("[data-copy-file]");
  if (!button) return;
  try {
    const response = await fetch(button.dataset.copyFile);
    if (!response.ok) throw new Error();
    await navigator.clipboard.writeText(await response.text());
    announce("Copied.");
  } catch {
    announce("It could not be copied; download it.");
  }
});
