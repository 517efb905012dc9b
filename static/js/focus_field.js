/** Moves to a field, and opens the drawer first that it lies in. */
export function focusField(field) {
  if (!field || field.checkVisibility({ visibilityProperty: true })) return (field?.select(), field?.focus());
  document.querySelector(`[data-drawer=${field.closest("[id]")?.id}]`)?.click();
  field.focus();
}
