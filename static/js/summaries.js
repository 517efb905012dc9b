/** Summaries: prompts open in place ([data-prompt]), polls say which pieces are here. */

document.addEventListener("click", async (event) => {
  const link = event.target.closest("[data-prompt]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const place = link.closest("li, .loss");
  const shown = place.querySelector(":scope > .prompt-box");
  if (shown) return shown.remove();
  htmx.ajax("GET", link.href, { source: link, target: place, swap: "beforeend" });
});

// A poll tells which pieces are on the page, so that new ones come with the answer and needless ones go.
document.addEventListener("htmx:configRequest", (event) => {
  if (!event.target.matches?.("[data-have]")) return;
  event.detail.parameters.have = [...document.querySelectorAll("[data-piece]")].map((piece) => piece.dataset.piece).join(",");
});

// The last poll: if no summary needs a look, the page would be empty.
document.addEventListener("htmx:afterSwap", ({ detail: { target } }) => {
  if (target.id !== "status" || document.querySelector("[data-have], #cards > *")) return;
  document.querySelector(".piece-group").open = true;
});
