/** Fetches fragments and pages of our own, and sends forms. A failure is told in words, never swallowed. */
import { announce } from "../status.js";

const FRAGMENT = { "HX-Request": "true" };

async function ask(url, options) {
  try {
    const answer = await fetch(url, options);
    return { status: answer.status, ok: answer.ok, text: await answer.text() };
  } catch (error) {
    if (error.name !== "AbortError") announce("chainviz does not answer. Is it still running?");
    return null;
  }
}

const told = ({ status }) =>
  announce(
    status === 404 ? "That is no longer there. Reload the page." : `That did not work (error ${status}). Reload the page and try again.`,
  );

function content(text) {
  const box = document.createElement("template");
  box.innerHTML = text;
  return box.content;
}

export async function fragment(url, options = {}) {
  const answer = await ask(url, { ...options, headers: FRAGMENT });
  if (!answer) return null;
  return answer.ok ? content(answer.text) : (told(answer), null);
}

/** A whole page, to take parts of. */
export async function wholePage(url) {
  const answer = await ask(url, {});
  if (!answer) return null;
  return answer.ok ? new DOMParser().parseFromString(answer.text, "text/html") : (told(answer), null);
}

/** Sends a form as `button` would. Returns whether it was accepted, and the content of the answer: of a refusal too, where it says why. */
export async function send(form, button) {
  const answer = await ask(form.action, { method: "POST", body: new FormData(form, button), headers: FRAGMENT });
  if (!answer) return null;
  if (!answer.ok && ![409, 422].includes(answer.status)) return (told(answer), null);
  return { ok: answer.ok, content: content(answer.text) };
}
