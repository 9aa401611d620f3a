/** The figures of a campaign: parts that take longer are fetched when they come into view, and all are kept fresh. */
import { tellLocally } from "./page_comforts.js";

const EVERY = 15000;
/** After so long one looks again for figures that are being worked out. */
const SOON = 2000;
/** @type {HTMLScriptElement|null} */
const script = document.querySelector("script[data-figures]");
const said = script?.dataset ?? {};

/** A page of ours, as a document. @param {string} address */
async function page(address) {
  const answer = await fetch(address, { headers: { Accept: "text/html" } });
  if (!answer.ok) throw new Error(String(answer.status));
  return new DOMParser().parseFromString(await answer.text(), "text/html");
}

/** Put new content in place of old; what was folded open stays open. @param {Element} old @param {Element} fresh */
function replace(old, fresh) {
  const open = [...old.querySelectorAll("details")].map((one) => one.open);
  [...fresh.querySelectorAll("details")].forEach((one, place) => { if (open[place]) one.open = true; });
  tellLocally(fresh);
  inPlace(() => old.replaceChildren(...[...fresh.childNodes].map((node) => document.importNode(node, true))));
}

/** Change the page, and leave what somebody is using where it is: a button that moves under a finger is not pressed. @param {() => void} change */
function inPlace(change) {
  const used = document.activeElement;
  const before = used?.getBoundingClientRect();
  change();
  // What was itself replaced has no place any more.
  if (!used?.isConnected || used === document.body || !before || before.bottom < 0 || before.top > innerHeight) return;
  scrollBy({ top: used.getBoundingClientRect().top - before.top, behavior: "instant" });
}

/** When a part is to be looked at again. @type {WeakMap<Element, number>} */
const again = new WeakMap();

/** @param {HTMLElement} part */
async function load(part) {
  try {
    const found = (await page(part.dataset.part ?? "")).getElementById(part.id);
    if (found) replace(part, found);
    part.dataset.loaded = "";
    clearTimeout(again.get(part));
    if (part.querySelector("[data-age]")) again.set(part, setTimeout(() => load(part), SOON));
  } catch {
    const waiting = part.querySelector(".waiting");
    if (waiting) waiting.textContent = said.fails ?? "";
  }
}

const watch = new IntersectionObserver((seen) => {
  for (const one of seen) {
    if (!one.isIntersecting) continue;
    watch.unobserve(one.target);
    load(/** @type {HTMLElement} */ (one.target));
  }
}, { rootMargin: "400px" });
document.querySelectorAll("[data-part]").forEach((part) => watch.observe(part));

/** What is shown: which figures, whether they are of now, and what is the matter. @param {unknown[]} parts */
const state = (...parts) => parts.join(" ");
let known = state(said.figures, said.now, said.trouble);
let soon = 0;

/** Look whether a figure has changed, and show the new ones. */
async function look() {
  if (document.hidden) return;
  try {
    const address = location.pathname + location.search;
    const twin = await fetch(`${location.pathname}.json${location.search}`);
    if (!twin.ok) return;
    const { figures, as_of: age, pending, trouble } = await twin.json();
    const found = state(figures, !age && !pending, trouble ?? "");
    clearTimeout(soon);
    if ((age || pending) && !trouble) soon = setTimeout(look, SOON);
    if (found !== known) {
      const fresh = await page(address);
      document.querySelectorAll("[data-live]").forEach((old) => {
        const newer = fresh.getElementById(old.id);
        if (newer) replace(old, newer);
      });
      document.querySelectorAll("[data-part][data-loaded]").forEach((part) => load(/** @type {HTMLElement} */ (part)));
    }
    known = found;
  } catch { /* no network just now: the next look will tell */ }
}

setInterval(look, EVERY);
if (said.now !== "true" && !said.trouble) soon = setTimeout(look, SOON);
