// Looks through the page for what only a string that was not escaped can have put there; says where the page leads, too.
// `html`: a page to read; else the one that is open.
(html) => {
  const root = html ? new DOMParser().parseFromString(html, "text/html") : document;
  const FORBIDDEN = `script:not([src]), iframe, frame, frameset, object, embed, applet, base, portal, marquee, math, audio, video, track,
    foreignObject, animate, set, image, xmp, listing, plaintext, noscript > :not(a.button), body style, meta[http-equiv]:not([http-equiv="Content-Security-Policy"]),
    body meta, body link, :not(head, svg, svg *) > title, form form, isindex`;
  const ATTRIBUTE = /^(on|style$|srcdoc$|srcset$|ping$|background$|poster$|data-hx-|(data-)?hx-on|ws-|sse-|hx-ext$|hx-(vals|headers|request)$)/i;
  const ADDRESS = /^(href|src|action|formaction|data|cite|manifest|xlink:href|hx-(get|post|put|patch|delete|push-url|replace-url))$/i;
  const OURS = ['{"reading": "1"}', '{"act": "scan"}', '{"act": "show"}'];
  const wrong = [];
  const links = new Set();
  const tell = (what, element) => wrong.push(`${what}: ${element.outerHTML.slice(0, 160)}`);
  const isRoom = (element, value) => element.matches('.node-body[aria-busy="true"]') && /^block-size: [\d.]+px;$/.test(value); // until a late answer comes
  const isOurs = (element, { name, value }) => (name === "style" && (element.matches("[data-spacer]") || isRoom(element, value))) || (name === "hx-headers" && element === root.body) || OURS.includes(value);
  const leads = (element, name, value) => {
    let url = null;
    try {
      url = new URL(value, location.href);
    } catch {
      return tell("an address that is none", element);
    }
    const isLink = element.localName === "a" && name === "href";
    if (url.protocol === "data:" && element.localName === "img") return;
    if (isLink && url.protocol === "mailto:") return;
    if (!/^https?:$/.test(url.protocol)) return tell("an address that runs", element);
    if (url.origin !== location.origin) return isLink && element.relList.contains("noopener") && element.relList.contains("noreferrer") ? null : tell("another origin", element);
    if (isLink || name === "hx-get") links.add(url.pathname + url.search);
  };
  const every = (root) => [...root.querySelectorAll("*")].flatMap((each) => (each.content instanceof DocumentFragment ? [each, ...every(each.content)] : [each]));
  for (const element of every(root)) {
    if (element.matches(FORBIDDEN)) tell("an element", element);
    for (const attribute of element.attributes) {
      if (ATTRIBUTE.test(attribute.name) && !isOurs(element, attribute)) tell("an attribute", element);
      if (ADDRESS.test(attribute.name)) leads(element, attribute.name, attribute.value);
    }
  }
  const forms = [...root.querySelectorAll("form")].filter((form) => form.getAttribute("method") === "post" || form.hasAttribute("hx-post"));
  const shown = (form) => {
    const address = new URL(form.getAttribute("action") || form.getAttribute("hx-post") || location.href, location.href);
    const all = [...form.elements].filter((field) => field.name && !field.disabled);
    const isButton = (field) => field.type === "submit" || field.type === "button";
    const isSent = (field) => !isButton(field) && (!/^(checkbox|radio)$/.test(field.type) || field.checked);
    return {
      is_fragment: form.hasAttribute("hx-post"),
      action: address.pathname + address.search,
      fields: all.filter(isSent).map((field) => [field.name, field.type, field.value]),
      buttons: all.filter(isButton).map((field) => [field.name, field.value]),
    };
  };
  return { wrong, links: [...links], forms: forms.map(shown) };
}
