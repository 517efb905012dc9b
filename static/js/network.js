/** Tells when a fragment could not be fetched: nothing on the page may fail in silence. */
import { announce } from "./status.js";

document.addEventListener("htmx:sendError", () => announce("chainviz does not answer. Is it still running?"));
document.addEventListener("htmx:timeout", () => announce("chainviz took too long to answer. Try again."));
document.addEventListener("htmx:responseError", (event) => {
  const status = event.detail.xhr.status;
  if (status === 507) return announce("The server’s disk is full. Nothing was changed; free some space and try again.");
  announce(
    status === 404 ? "That is no longer there. Reload the page." : `That did not work (error ${status}). Reload the page and try again.`,
  );
});
