/** Programs at work: what they have done shows by itself, often while one judges. */
import { tellLocally } from "./page_comforts.js";

const SOON = 2000;
const LATER = 15000;

/** Put new content in place of old; what was folded open stays open. @param {Element} old @param {Element} fresh */
function replace(old, fresh) {
  if (old.contains(document.activeElement) || old.innerHTML === fresh.innerHTML) return;
  const open = [...old.querySelectorAll("details")].map((one) => one.open);
  [...fresh.querySelectorAll("details")].forEach((one, place) => { if (open[place]) one.open = true; });
  tellLocally(fresh);
  old.replaceChildren(...[...fresh.childNodes].map((node) => document.importNode(node, true)));
}

async function look() {
  try {
    if (!document.hidden) {
      const answer = await fetch(location.pathname + location.search, { headers: { Accept: "text/html" } });
      if (answer.ok) {
        const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
        document.querySelectorAll("[data-live]").forEach((old) => {
          const newer = fresh.getElementById(old.id);
          if (!newer) return;
          old.toggleAttribute("data-active", newer.hasAttribute("data-active"));
          replace(old, newer);
        });
      }
    }
  } catch { /* no network just now: the next look will tell */ }
  setTimeout(look, document.querySelector("[data-active], [data-age]") ? SOON : LATER);
}

setTimeout(look, SOON);
