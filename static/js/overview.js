/** The overview: a chart is one stop of the Tab key, arrow keys move between its bars, and the bar's sum
    stands in the head of its card. */
for (const field of document.querySelectorAll(".overview-dates input")) {
  field.addEventListener("change", () => document.querySelector("[data-since]")?.remove());
}

for (const chart of document.querySelectorAll("[data-chart]")) {
  const bars = [...chart.querySelectorAll("a")];
  const readout = chart.closest("section").querySelector("[data-readout]");
  const usual = readout.textContent;
  const say = (text) => () => (readout.textContent = text);
  bars.forEach((bar, place) => {
    bar.tabIndex = place === bars.length - 1 ? 0 : -1;
    bar.addEventListener("keydown", (event) => move(event, bar, place));
    for (const kind of ["pointerenter", "focus"]) bar.addEventListener(kind, say(bar.dataset.words));
    for (const kind of ["pointerleave", "blur"]) bar.addEventListener(kind, say(usual));
  });

  function move(event, bar, place) {
    const next = bars[{ ArrowLeft: place - 1, ArrowRight: place + 1, Home: 0, End: bars.length - 1 }[event.key]];
    if (!next) return;
    event.preventDefault();
    bar.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  }
}
