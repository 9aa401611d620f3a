/** The judging page begins here. */
import { at } from "./addresses.js";
import { readJson } from "./dom.js";
import { Copies } from "./offline_work.js";
import { Outbox } from "./outbox.js";
import { Page } from "./judging_page.js";
import { loadWidgets } from "./widgets/registry.js";
import { fetchWords } from "./words.js";

/** @type {import("./types.js").Config} */
const config = readJson("config");

/** The unit to show. Without a network the page may be that of another unit, or older than what is kept of this one. */
async function unitHere() {
  /** @type {import("./types.js").Unit} */
  const loaded = readJson("unit");
  const number = Number(location.pathname.split("/").at(-1));
  const kept = await new Copies(config.person).get(loaded.campaign, number);
  if (kept && (loaded.number !== number || kept.revision > loaded.revision)) return kept;
  if (loaded.number !== number) history.replaceState(null, "", at(`/c/${loaded.campaign}/u/${loaded.number}`));
  return loaded;
}

const unit = await unitHere();
const fetched = fetch(unit.scheme.url).then((answer) => answer.json());
const [words, scheme, outbox, makeWidget] = await Promise.all([
  fetchWords(config.words),
  fetched,
  Outbox.open(config),
  fetched.then(loadWidgets),
]);
const page = new Page({ words, scheme, outbox, makeWidget });
await page.open(unit);
await page.travel.resume();
outbox.pump();
document.documentElement.dataset.ready = "";

const made = performance.getEntriesByType("resource").map((one) => new URL(one.name));
const places = ["/static/", "/words/", "/schemes/"].map(at);
const ours = made.filter(({ origin, pathname }) => origin === location.origin && places.some((place) => pathname.startsWith(place)));
page.offline.keepPage(ours.map(({ pathname, search }) => pathname + search));
