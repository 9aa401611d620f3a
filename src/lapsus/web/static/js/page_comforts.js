/** On every page around judging: times as the reader's clock has them, links that can be copied, and help. */

const language = document.documentElement.lang;
const moments = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" });
const days = new Intl.DateTimeFormat(language, { dateStyle: "medium" });

/** Times come in UTC; here is known where the reader is. @param {ParentNode} place */
export function tellLocally(place) {
  place.querySelectorAll("time[data-local]").forEach((one) => {
    const at = new Date(one.getAttribute("datetime") ?? "");
    if (!Number.isNaN(at.getTime())) one.textContent = (one.getAttribute("data-local") === "day" ? days : moments).format(at);
    one.removeAttribute("data-local");
  });
}

tellLocally(document);

document.querySelectorAll("button[data-copies]").forEach((one) => {
  const button = /** @type {HTMLButtonElement} */ (one);
  const field = /** @type {HTMLInputElement|null} */ (document.getElementById(button.dataset.copies ?? ""));
  button.hidden = !field || !navigator.clipboard;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(field?.value ?? "");
    button.textContent = button.dataset.done ?? button.textContent;
  });
});

const help = /** @type {HTMLDialogElement|null} */ (document.getElementById("page-help"));
const button = document.getElementById("help");
if (help && button) {
  button.hidden = false;
  button.addEventListener("click", () => help.showModal());
  addEventListener("keydown", (event) => {
    const at = /** @type {HTMLElement} */ (event.target);
    if (event.key === "?" && !at.matches("textarea, select, input:not([type=checkbox])")) help.showModal();
  });
}
