/** [data-compare-digest]: says whether a chosen file has the digest of a sign-off or a certificate. The file stays in the
    browser. [data-print] prints the page. */
const input = document.querySelector("[data-compare-digest]");
const result = document.querySelector("[data-compare-result]");

async function digestOf(file) {
  const digest = await crypto.subtle.digest("SHA-256", await file.arrayBuffer());
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

input.addEventListener("change", async () => {
  const [file] = input.files;
  if (!file) return;
  if (!window.crypto?.subtle) {
    result.textContent = "This browser computes digests on HTTPS pages only; use sha256sum.";
    return;
  }
  const isSame = (await digestOf(file)) === input.dataset.compareDigest;
  result.textContent = isSame
    ? `${file.name} ${input.dataset.compareWords ?? "is the file that was signed off."}`
    : `${file.name} is another file.`;
});
document.querySelector("[data-print]")?.addEventListener("click", () => print());
