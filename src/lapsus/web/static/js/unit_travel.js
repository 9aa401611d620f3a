/**
 * From unit to unit: on, back, and waiting where the way on needs the network.
 * @typedef {import("./judging_page.js").Page} Page
 */
import { byId, randomName } from "./dom.js";
import { labelsOf } from "./scheme.js";
import { at } from "./addresses.js";
import { fetchNext, TravelError } from "./unit_loader.js";

/** So long after an answer, keys that come before the next unit does are meant for nothing that one has read. */
const TURNING = 1000;
/** Milliseconds for which the way back from an answer by one touch is offered. */
const OFFERED = 5000;
/** Milliseconds between two looks for messages. */
const OFTEN = 30_000;

export class Travel {
  /** @type {number[]} units that were submitted here, in that order, for the way back */ trail = [];
  /** @type {string|null} the answer after whose arrival the page goes on */ leaving = null;
  /** @type {number|null} where to go on after the practice has told how it went */ onward = null;
  /** @type {(() => any)|null} what is tried again when the network is back */ waits = null;
  leftAt = 0;
  lookedAt = performance.now();
  /** @type {ReturnType<typeof setTimeout>|undefined} */ offered = undefined;

  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    addEventListener("popstate", () => this.to(Number(location.pathname.split("/").at(-1)), { push: false }));
    addEventListener("online", () => this.waits?.());
  }

  /** A unit is there. */
  arrived() {
    this.leaving = this.onward = this.waits = null;
    this.leftAt = 0;
  }

  /** The unit is answered: go on when that is on its way. @returns {string} the key to save it under */
  leave() {
    this.leaving = randomName();
    this.leftAt = performance.now();
    return this.leaving;
  }

  /** The page was loaded anew while an answer waits: it still goes on when that arrives. */
  async resume() {
    const { unit, outbox } = this.page;
    const waiting = await outbox.newestOf(unit.campaign, unit.number);
    if (!waiting?.body.submitted || waiting.refused) return;
    this.leaving = waiting.key;
    this.leftAt = -TURNING;
  }

  /** Whether the page is just about to go on. */
  get isTurning() {
    return this.leaving !== null && performance.now() - this.leftAt < TURNING;
  }

  /** There is nothing new to submit: go on, or go on waiting. */
  async again() {
    if (this.waits) await this.waits();
    else if (this.leaving === null) await this.on(this.onward);
  }

  /** In the practice: show how it went before going on. @param {number|null} next */
  async learn(next) {
    const { page } = this;
    await this.attempt(async () => {
      await page.open(await page.offline.fetch(page.unit.number));
      this.onward = next;
    });
    if (page.feedback) page.submitButton.focus();
    else if (!this.waits) await this.on(next);
  }

  /** On to a unit, or to whatever is free next, or to the page that says why there is nothing:
   * what to read first, or that all is done. @param {number|null} next */
  async on(next) {
    const { page } = this;
    const from = page.unit.number;
    const said = page.oneTouch ? this.answered() : "";
    const isSubmitted = this.leaving !== null;
    await this.attempt(async () => {
      const number = next ?? (await fetchNext(page.unit.campaign));
      if (number === null) location.assign(at(`/c/${page.unit.campaign}/judge`));
      else await page.open(await page.offline.fetch(number), { push: true });
      if (isSubmitted) this.trail.push(from);
      if (said) this.offerUndo(said);
    });
    await this.lookForMessages();
  }

  /** Look now and then whether those who run the campaign have written. */
  async lookForMessages() {
    if (performance.now() - this.lookedAt < OFTEN) return;
    this.lookedAt = performance.now();
    const found = await import("./messages.js").catch(() => null);
    await found?.showMessages(this.page);
  }

  /** To a unit. @param {number} number @param {{push?: boolean}} [how] */
  async to(number, { push = true } = {}) {
    const { page } = this;
    page.keepDraft();
    page.notices.hide("undo");
    await this.attempt(async () => {
      await page.open(await page.offline.fetch(number), { push });
    });
  }

  /** One unit back. */
  back() {
    const number = this.page.unit.previous;
    if (number) this.to(number);
  }

  /** Back to the unit that was submitted last, which is then a draft again; where none was, one unit back. */
  async undo() {
    const number = this.trail.pop();
    if (number === undefined) return this.page.oneTouch && this.back();
    await this.to(number);
    if (this.page.unit.number === number) this.page.withdraw();
  }

  /** Try to get somewhere; where there is no network, wait for it. @param {() => Promise<void>} move */
  async attempt(move) {
    const { page } = this;
    const here = page.unit;
    try {
      await move();
      this.leaving = null;
      page.notices.hide("travel", "elsewhere");
      if (page.current === null) byId("main").focus({ preventScroll: true });
    } catch (error) {
      if (!(error instanceof TravelError)) throw error;
      if (error.status === 401) location.assign(at(`/sign-in?next=${encodeURIComponent(location.pathname)}`));
      else if (error.status && error.status < 500) page.notices.show("travel", error.message, { warn: true });
      else {
        // Only as long as one stays: whoever moves on meanwhile has another aim.
        this.wait(() => page.unit === here && this.attempt(move));
      }
    }
  }

  /** Say that the way on needs the network, and try it when that is back. @param {() => any} move */
  wait(move) {
    const { notices, words } = this.page;
    this.waits = move;
    const actions = [{ label: words.say("try-again"), run: () => this.waits?.() }];
    notices.show("travel", words.say("no-network"), { warn: true, actions });
  }

  /** The answer by one touch, in words. */
  answered() {
    const { scheme, history, words } = this.page;
    const question = scheme.questions.find((one) => one.kind === "label");
    const answer = question && history.now[question.id];
    const label = question && labelsOf(scheme, question).find((one) => one.id === answer);
    return label ? (words.of(label.name) ?? label.id) : "";
  }

  /** A touch too much is one touch away. @param {string} said */
  offerUndo(said) {
    const { notices, words } = this.page;
    notices.show("undo", said, { actions: [{ label: words.say("keys.undo"), run: () => this.undo() }] });
    this.fadeLater();
  }

  fadeLater() {
    clearTimeout(this.offered);
    this.offered = setTimeout(() => this.page.notices.fade("undo"), OFFERED);
  }
}
