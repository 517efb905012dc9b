"""Links that let anybody read one version of a chain without an account. Read models, links, form, view in this order."""
