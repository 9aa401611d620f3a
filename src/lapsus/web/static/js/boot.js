/** The judging page begins here. */
import { readJson } from "./dom.js";
import { Outbox } from "./outbox.js";
import { Page } from "./page.js";
import { loadParts } from "./parts/all.js";
import { fetchWords } from "./words.js";

/** @type {import("./types.js").Config} */
const config = readJson("config");
/** @type {import("./types.js").Unit} */
const unit = readJson("unit");

const fetched = fetch(unit.scheme.url).then((answer) => answer.json());
const [words, scheme, outbox, makePart] = await Promise.all([
  fetchWords(config.words),
  fetched,
  Outbox.open(config),
  fetched.then(loadParts),
]);
const page = new Page({ words, scheme, outbox, makePart });
await page.open(unit);
outbox.pump();
document.documentElement.dataset.ready = "";
