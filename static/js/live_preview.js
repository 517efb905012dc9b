/**
 * A form that follows what is typed sends its fields only. htmx adds the button that last had the focus, so that Tab from a
 * field to a button would press it.
 */
document.addEventListener("htmx:configRequest", ({ detail: { elt: form, triggeringEvent: event, parameters } }) => {
  if (!form.matches("form") || event?.type === "submit") return;
  const fields = new FormData(form);
  const added = JSON.parse(form.closest("[hx-vals]")?.getAttribute("hx-vals") ?? "{}");
  for (const { name } of form.querySelectorAll("button[name]")) {
    if (name in added) continue;
    if (fields.has(name)) parameters[name] = fields.getAll(name);
    else delete parameters[name];
  }
});
