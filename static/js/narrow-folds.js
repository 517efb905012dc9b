/** Settings beside a page ([data-fold-narrow]) fold to one line on a phone, so that what they lead to is near. Until then
    the stylesheet hides what is in them: nothing jumps. */
const narrow = matchMedia("(max-width: 52rem)");

for (const fold of document.querySelectorAll("[data-fold-narrow]")) {
  if (narrow.matches) fold.open = false;
  fold.dataset.folded = "";
}
