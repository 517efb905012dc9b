/** Says one sentence in the page's only live region; it fades after some seconds. */
const SECONDS = 6;
const region = document.querySelector("[data-status]");
let timer = 0;

export function announce(text) {
  clearTimeout(timer);
  region.textContent = text;
  timer = setTimeout(() => (region.textContent = ""), SECONDS * 1000);
}

// What the page before had to say, such as "Version 6 is saved", came with this page.
if (region.textContent) announce(region.textContent);
