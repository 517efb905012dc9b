/** On a phone the settings fold to one line, so that the decisions are near. */
if (matchMedia("(max-width: 52rem)").matches) document.querySelector("details.settings")?.removeAttribute("open");

/** The settings of a policy open with it. */
for (const radio of document.querySelectorAll('[name="policy"]')) {
  radio.addEventListener("change", () => document.querySelector(`[data-of-policy="${radio.value}"]`)?.setAttribute("open", ""));
}
