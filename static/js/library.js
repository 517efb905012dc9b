/** What the library switches on. */
import "./drop.js";
import "./pick.js";
