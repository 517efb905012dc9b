/** Calls `ask` again and again while the page is looked at. It says whether something changed: then it is called soon again,
    else later and later. Times in milliseconds. */
export function visible(ask, { first, least, most }) {
  let pause = first;
  let timer = 0;

  async function turn() {
    clearTimeout(timer);
    if (document.hidden) return;
    let changed = false;
    try {
      changed = await ask();
    } catch {
      pause = most; // the server does not answer
    }
    pause = changed ? least : Math.min(most, Math.max(least, pause * 1.4));
    timer = setTimeout(turn, pause);
  }

  timer = setTimeout(turn, first);
  document.addEventListener("visibilitychange", () => document.hidden || turn());
}
