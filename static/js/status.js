/** Says one sentence in the page's only live region; it fades after some seconds. `button`: what it offers, {text, key, press}. */
const SECONDS = 6;
const LINK_SECONDS = 30; // long enough to reach a link in it
const region = document.querySelector("[data-status]");
let timer = 0;

export function announce(text, button = null) {
  clearTimeout(timer);
  region.textContent = text;
  if (button) region.append(made(button));
  timer = setTimeout(() => (region.textContent = ""), SECONDS * 1000);
}

function made({ text, key, press }) {
  const button = document.createElement("button");
  button.className = "button";
  button.type = "button";
  button.dataset.kind = "outlined";
  button.dataset.size = "small";
  const hint = document.createElement("kbd");
  hint.textContent = key;
  button.append(text, " ", hint);
  button.addEventListener("click", () => ((region.textContent = ""), press()));
  return button;
}

// What the page before had to say, such as "Version 6 is saved", came with this page.
if (region.querySelector("a")) timer = setTimeout(() => region.replaceChildren(), LINK_SECONDS * 1000);
else if (region.textContent) announce(region.textContent);
