/** Drawers on small screens: outline and inspector slide in; one is open at a time. */
const scrim = document.querySelector(".drawer-scrim");
const panes = () => document.querySelectorAll(".outline, .inspector");

export function closeDrawers() {
  const open = [...panes()].find((pane) => pane.hasAttribute("data-open"));
  for (const pane of [...panes(), scrim]) pane.removeAttribute("data-open");
  for (const button of document.querySelectorAll("[data-drawer]")) button.setAttribute("aria-expanded", "false");
  return Boolean(open);
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-drawer]");
  if (button) {
    const pane = document.getElementById(button.dataset.drawer);
    const open = pane.hasAttribute("data-open");
    closeDrawers();
    if (open) return;
    for (const part of [pane, scrim]) part.setAttribute("data-open", "");
    button.setAttribute("aria-expanded", "true");
    pane.dispatchEvent(new CustomEvent("pane:opened", { bubbles: true }));
  } else if (event.target === scrim || event.target.closest("[data-close-drawers]")) closeDrawers();
});
document.addEventListener("keydown", (event) => event.key === "Escape" && closeDrawers());
