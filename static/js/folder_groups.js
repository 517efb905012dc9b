/** Folders of the table that a person has folded stay folded: a cookie says which, so that the page comes as it was left. */
const COOKIE = "library_folded";
const YEAR = 365 * 24 * 3600;
const MOST = 100;

const folded = () =>
  new Set(
    document.cookie
      .match(new RegExp(`(?:^|; )${COOKIE}=([^;]*)`))?.[1]
      .split(".")
      .filter(Boolean),
  );

document.addEventListener(
  "toggle",
  ({ target }) => {
    const key = target.dataset?.group;
    if (!key) return;
    const keys = folded();
    keys.delete(key);
    if (!target.open) keys.add(key);
    document.cookie = `${COOKIE}=${[...keys].slice(-MOST).join(".")}; path=/; max-age=${YEAR}; samesite=lax`;
  },
  true,
);
