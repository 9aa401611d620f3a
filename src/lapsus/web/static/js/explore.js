/** All units: keys to search, move and select, and a count of what is selected. */
import { byId } from "./dom.js";

const SOON = 1500;
const finder = /** @type {HTMLFormElement} */ (byId("finder"));
const many = /** @type {HTMLFormElement|null} */ (document.getElementById("many"));
const found = [...document.querySelectorAll(".found")];
/** @type {HTMLInputElement[]} */
const ticks = [...document.querySelectorAll(".tick input")].map((one) => /** @type {HTMLInputElement} */ (one));
const everything = /** @type {HTMLInputElement|null} */ (document.getElementById("tick-all"));
const wholePage = /** @type {HTMLInputElement|null} */ (document.getElementById("tick-page"));
let here = -1;

// On a phone what was found comes first; narrowing it down is one touch away.
if (matchMedia("(max-width: 46rem)").matches) document.querySelector(".picks-fold")?.removeAttribute("open");

// A choice is looked up at once; the button is for the words, and for those without scripts.
finder.querySelectorAll("select").forEach((one) => one.addEventListener("change", () => finder.requestSubmit()));
// An address says only what is looked for.
finder.addEventListener("submit", () => {
  finder.querySelectorAll("select, input").forEach((field) => {
    const one = /** @type {HTMLInputElement} */ (field);
    if (one.value === "" || (one.name === "q" && one.type === "hidden" && finder.querySelector("select[name=q]"))) one.disabled = true;
  });
});
addEventListener("pageshow", () => finder.querySelectorAll(":disabled").forEach((field) => { /** @type {HTMLInputElement} */ (field).disabled = false; }));

function count() {
  const place = document.getElementById("ticked");
  if (!place || !many) return;
  const some = ticks.filter((one) => one.checked).length;
  place.textContent = everything?.checked ? place.dataset.all ?? "" : some ? (place.dataset.some ?? "").replace("{count}", String(some)) : place.dataset.none ?? "";
  const any = Boolean(some || everything?.checked);
  many.classList.toggle("none", !any);
  many.querySelectorAll("button").forEach((button) => { button.disabled = !any; });
  if (wholePage) wholePage.checked = some === ticks.length;
}

wholePage?.addEventListener("change", () => {
  for (const one of ticks) one.checked = wholePage.checked;
  count();
});
everything?.addEventListener("change", count);
ticks.forEach((one) => one.addEventListener("change", count));
// A download leaves the page as it is, so the buttons are there again.
count();

/** @param {number} to */
function go(to) {
  if (!found.length) return;
  found[here]?.classList.remove("here");
  here = Math.max(0, Math.min(found.length - 1, to));
  found[here].classList.add("here");
  ticks[here].focus({ preventScroll: true });
  found[here].scrollIntoView({ block: "nearest" });
}

/** @type {Record<string, () => void>} */
const keys = {
  "/": () => byId("f-text").focus(),
  j: () => go(here + 1),
  k: () => go(here - 1),
  x: () => { if (here >= 0) ticks[here].click(); },
  o: () => { /** @type {HTMLAnchorElement|null} */ (found[here]?.querySelector(".found-where a"))?.click(); },
};
addEventListener("keydown", (event) => {
  const at = /** @type {HTMLElement} */ (event.target);
  const types = at.matches("textarea, select, input:not([type=checkbox])");
  if (types || event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
  event.preventDefault();
  keys[event.key]();
});

/** What is being made ready comes by itself, once nobody is in the middle of something. */
function renew() {
  const busy = document.activeElement?.matches("textarea, select, input:not([type=checkbox])") || ticks.some((one) => one.checked);
  if (busy) setTimeout(renew, SOON);
  else location.reload();
}
if (document.querySelector("script[data-pending]")) setTimeout(renew, SOON);
