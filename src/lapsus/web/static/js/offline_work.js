/**
 * Work without a network: units that may be seen already are kept on this device, and what comes next is taken from there.
 * Later turns of a conversation are not among them: the server shows none before the earlier ones are judged.
 * @typedef {import("./types.js").Unit} Unit
 */
import { at, named } from "./addresses.js";
import { fetchAhead, fetchUnit, TravelError } from "./unit_loader.js";

/** How many units are fetched ahead, where the guideline lets one see them, and how many are kept in all. */
const AHEAD = 10;
const MOST = 200;

export class OfflineWork {
  /** @param {import("./judging_page.js").Page} page */
  constructor(page) {
    this.page = page;
    this.copies = new Copies(page.outbox.person);
    page.outbox.addEventListener("change", () => this.changed());
    page.outbox.addEventListener("saved", (event) => this.copies.note(/** @type {CustomEvent} */ (event).detail));
  }

  /** A unit: as the server has it, else as it is kept here. @param {number} number @returns {Promise<Unit>} */
  async fetch(number) {
    const { campaign } = this.page.unit;
    try {
      return await fetchUnit(campaign, number);
    } catch (error) {
      const kept = error instanceof TravelError && !error.status ? await this.copies.get(campaign, number) : null;
      if (kept) return kept;
      throw error;
    }
  }

  /** A unit is shown: keep it, and fetch what comes next while nobody waits. @param {Unit} unit */
  async opened(unit) {
    await this.copies.keep(unit);
    if (!this.copies.lasts || this.page.outbox.isOff) return;
    const isHidden = this.page.scheme.unit.context === "before";
    for (const number of isHidden ? [unit.next ?? 0] : await this.ahead(unit)) {
      if (!number || this.page.unit !== unit || (await this.copies.get(unit.campaign, number))) continue;
      const found = await fetchUnit(unit.campaign, number).catch(() => null);
      if (found?.number === number) await this.copies.keep(found);
    }
  }

  /** The units to come, in order. Where the plan hands out few at a time, more are asked for. @param {Unit} unit */
  async ahead(unit) {
    const isOthers = (/** @type {number} */ number) => number !== unit.number;
    if (unit.state === "reserved" && unit.part !== "training" && unit.unjudged.filter(isOthers).length < AHEAD) {
      const mine = await fetchAhead(unit.campaign).catch(() => []);
      const all = [...new Set([...unit.unjudged, ...mine])].sort((one, other) => one - other);
      unit.own += all.length - unit.unjudged.length;
      unit.unjudged = all;
      await this.copies.keep(unit);
    }
    const place = unit.unjudged.findIndex((number) => number > unit.number);
    return (place < 0 ? unit.unjudged : [...unit.unjudged.slice(place), ...unit.unjudged.slice(0, place)]).filter(isOthers).slice(0, AHEAD);
  }

  /** Where an answer waits for the network, go on with what is here, or say what it waits for. */
  async changed() {
    const { page } = this;
    page.showJudged();
    const key = page.travel.leaving;
    if (key === null || !page.outbox.isOff || page.unit.part === "training") return;
    const next = await this.next();
    if (page.travel.leaving !== key) return;
    if (!next) {
      page.travel.wait(() => page.outbox.pump());
      return;
    }
    page.travel.leaving = null;
    page.travel.trail.push(page.unit.number);
    await page.open(next, { push: true });
  }

  /** The unit to go on with, if it is kept here. @returns {Promise<Unit|null>} */
  async next() {
    const { unit, outbox, bar } = this.page;
    const waiting = await outbox.submittedUnits(unit.campaign);
    const open = unit.unjudged.filter((number) => !waiting.has(number) && !bar.submitted.has(`${unit.campaign}/${number}`));
    const number = open.find((one) => one > unit.number) ?? open[0];
    return number ? this.copies.get(unit.campaign, number) : null;
  }

  /** Let the page be there without a network too, where the browser can. @param {string[]} urls what it is made of */
  async keepPage(urls) {
    if (!this.copies.lasts) return;
    try {
      await navigator.serviceWorker.register(at("/service-worker.js"));
      const { active } = await navigator.serviceWorker.ready;
      active?.postMessage({ person: this.page.outbox.person, page: location.pathname, urls });
    } catch {
      // Some browsers and settings let no site do this. Then a reload needs the network.
    }
  }
}

/** Units of one person, kept on this device. Where there is no place for them, nothing is kept. */
export class Copies {
  /** @param {number} person */
  constructor(person) {
    this.name = named(`lapsus-own-${person}`);
    this.lasts = "caches" in window && "serviceWorker" in navigator;
  }

  /** @param {Unit} unit */
  async keep(unit) {
    await this.work(async (cache) => {
      await cache.put(address(unit.campaign, unit.number), new Response(JSON.stringify(unit)));
      const units = (await cache.keys()).filter((one) => one.url.endsWith(".json") && one.url.includes("/u/"));
      await Promise.all(units.slice(0, Math.max(0, units.length - MOST)).map((one) => cache.delete(one)));
    });
  }

  /** @param {string} campaign @param {number} number @returns {Promise<Unit|null>} */
  get(campaign, number) {
    return this.work(async (cache) => (await (await cache.match(address(campaign, number)))?.json()) ?? null);
  }

  /** The server has an answer: the copy says so too. @param {{entry: import("./types.js").Entry, saved: import("./types.js").Saved}} what */
  async note({ entry, saved }) {
    const unit = entry.kind === "judgments" ? await this.get(entry.campaign, entry.unit) : null;
    if (!unit || saved.revision < unit.revision) return;
    await this.keep({ ...unit, answers: entry.body.answers, revision: saved.revision, submitted: entry.body.submitted });
  }

  /**
   * @template T
   * @param {(cache: Cache) => Promise<T>} work
   * @returns {Promise<T|null>}
   */
  async work(work) {
    try {
      return this.lasts ? await work(await caches.open(this.name)) : null;
    } catch {
      return null;
    }
  }
}

/** @param {string} campaign @param {number} number */
function address(campaign, number) {
  return at(`/c/${campaign}/u/${number}.json`);
}
