/** Fetches a fragment of our own pages. A failure is told in words, never swallowed. */
import { announce } from "../status.js";

export async function fragment(url, options = {}) {
  let answer, text;
  try {
    answer = await fetch(url, { ...options, headers: { "HX-Request": "true" } });
    text = await answer.text();
  } catch (error) {
    if (error.name !== "AbortError") announce("chainviz does not answer. Is it still running?");
    return null;
  }
  if (!answer.ok) {
    announce(answer.status === 404 ? "That is no longer there. Reload the page." : `That did not work (error ${answer.status}). Reload the page and try again.`);
    return null;
  }
  const box = document.createElement("template");
  box.innerHTML = text;
  return box.content;
}
