/** The page that fixes a session: another repair is shown at once. */
for (const choice of document.querySelectorAll("[data-submits]")) choice.addEventListener("change", () => choice.form.requestSubmit());
