/** On a phone the settings fold to one line, so that the decisions are near. */
if (matchMedia("(max-width: 52rem)").matches) document.querySelector("details.settings")?.removeAttribute("open");

/** The settings of a policy open with it. */
document.querySelector("#id_policy")?.addEventListener("change", ({ target }) => {
  document.querySelector(`[data-of-policy="${target.value}"]`)?.setAttribute("open", "");
});
