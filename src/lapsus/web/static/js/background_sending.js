/** On pages where nothing is judged: answers that still wait are sent from here too, and what was not taken is told. */
import { byId, el, readJson } from "./dom.js";
import { Outbox } from "./outbox.js";
import { fetchWords } from "./words.js";

const who = readJson("who");
const outbox = await Outbox.open(who);
outbox.pump();
/** @type {HTMLElement|undefined} */
let place;
/** @type {HTMLElement|undefined} */
let aside;

async function show() {
  const count = outbox.waiting;
  if (!place && !count && !aside && !outbox.refused.length) return;
  const words = await fetchWords(who.words);
  if (!place && count) {
    place = el("span", { class: "warn", role: "status" });
    document.querySelector(".top-end")?.prepend(place);
  }
  if (place) {
    place.textContent = count ? words.say("waiting", { count }) : words.say("saved");
    place.className = count ? "warn" : "good";
  }
  showAside(words);
}

/** Nothing is sent again that the server will never take, and nothing is lost without a word. @param {import("./words.js").Words} words */
function showAside(words) {
  aside?.remove();
  const [first] = outbox.refused;
  aside = undefined;
  if (!first) return;
  const why = (first.refused?.messages ?? []).join(" ");
  const discard = el("button", { type: "button", class: "plain", text: words.say("refused.discard"), on: { click: () => outbox.discard(first) } });
  const text = words.say(first.refused?.reason === "stopped" ? "refused.stopped" : "refused.aside", { number: first.unit, campaign: first.campaign, why });
  aside = el("div", { class: "page aside" }, el("div", { class: "notice", role: "status" }, el("span", { text }), " ", discard));
  byId("main").prepend(aside);
}

outbox.addEventListener("change", show);
await show();
