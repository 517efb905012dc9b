/** On a phone the settings fold to one line, so that the decisions are near. */
if (matchMedia("(max-width: 52rem)").matches) document.querySelector("details.settings")?.removeAttribute("open");
