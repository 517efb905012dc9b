/** The explorer page: what a person does there, a module each. */
import "./bytes.js";
import "./editing.js";
import "./commenting.js";
import "./going.js";
import "./reading.js";
import "./shortcuts.js";
