/** What every page switches on. */
import "./help.js";
import "./network.js";
import "./unsent_text.js";
import "./narrow-folds.js";
import "./palette.js";
import "./live_preview.js";
