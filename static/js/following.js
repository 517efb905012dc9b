/** A chain whose file grows: the head asks for what is new while the page is looked at, and says that there is a newer version. */
import { visible } from "./polling.js";

const place = document.querySelector("[data-following]");

async function ask() {
  const before = place.innerHTML;
  await window.htmx.ajax("POST", place.dataset.following, { source: place, target: place, swap: "innerHTML", values: { v: place.dataset.number } });
  return place.innerHTML !== before;
}

if (place) visible(ask, { first: 1000, least: 4000, most: 60000 });
