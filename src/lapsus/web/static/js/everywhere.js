/** On pages where nothing is judged: answers that still wait are sent from here too. */
import { el, readJson } from "./dom.js";
import { Outbox } from "./outbox.js";
import { fetchWords } from "./words.js";

const who = readJson("who");
const outbox = await Outbox.open(who);
/** @type {HTMLElement|undefined} */
let place;

async function show() {
  const count = outbox.waiting + outbox.refused.length;
  if (!place && !count) return;
  const words = await fetchWords(who.words);
  if (!place) {
    place = el("span", { class: "warn", role: "status" });
    document.querySelector(".top-end")?.prepend(place);
  }
  place.textContent = count ? words.say("waiting", { count }) : words.say("saved");
  place.className = count ? "warn" : "good";
}

outbox.addEventListener("change", show);
await show();
