/** What every page switches on. */
import "./help.js";
import "./network.js";
import "./unsent_text.js";
import "./narrow-folds.js";
import "./palette.js";
import "./live_preview.js";

// a choice that counts at once, without its form's button
document.addEventListener("change", (event) => event.target.closest("[data-submits]")?.form.requestSubmit());
