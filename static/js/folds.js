/** Settings beside a page are open on a desk and folded on a phone. */
const narrow = matchMedia("(max-width: 52rem)");
for (const fold of document.querySelectorAll(".obs-fold")) fold.open = !narrow.matches;
