/** Pages of one node or part: the rest of long texts comes in place, results can be unwrapped and widened. */
import { Nodes, widen, wrap } from "./nodes.js";

const nodes = new Nodes({ rows: null, fold: null, text: (address) => address });

document.addEventListener("click", (event) => {
  if (event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  const more = event.target.closest("[data-more]");
  const action = event.target.closest("[data-action]");
  if (!more && !action) return;
  event.preventDefault();
  if (more) nodes.more(more);
  else if (action.dataset.action === "wrap") wrap(action);
  else widen(action);
});
