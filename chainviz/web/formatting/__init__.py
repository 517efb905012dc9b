"""Numbers, times and transcript text as pages show them."""
