/** Elements with hx-trigger="tick from:body" ask again every 20 seconds while the page can be seen, and when it is seen again. */
const SECONDS = 20;
const tick = () => document.hidden || document.body.dispatchEvent(new Event("tick"));

setInterval(tick, SECONDS * 1000);
document.addEventListener("visibilitychange", tick);
