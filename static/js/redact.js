/** The settings of a policy open with it. */
for (const radio of document.querySelectorAll('[name="policy"]')) {
  radio.addEventListener("change", () => document.querySelector(`[data-of-policy="${radio.value}"]`)?.setAttribute("open", ""));
}
