/**
 * The judging page: one unit, its questions, and the way on.
 * @typedef {import("./types.js").Unit} Unit
 * @typedef {import("./types.js").Question} Question
 * @typedef {import("./types.js").Part} Part
 */
import { feedbackPanel, suggestionPanel, TAKE_KEY } from "./aids.js";
import { History } from "./answers.js";
import { Bar, Notices } from "./bar.js";
import { drawDocument } from "./conversation.js";
import { byId, el, kbd, randomName } from "./dom.js";
import { Guide } from "./guide.js";
import { Keys } from "./keys.js";
import { Messages } from "./messages.js";
import { brokenRules, seenOf } from "./rules.js";
import { isOneTouch } from "./scheme.js";
import { pageBindings, speakToParts } from "./shortcuts.js";
import { Clock } from "./time.js";
import { fetchNext, fetchUnit, TravelError } from "./travel.js";

/** Milliseconds without a change after which a draft is kept: longer while somebody types. */
const QUIET = 250;
const TYPING = 700;
/** So long after an answer, keys that come before the next unit does are meant for nothing that one has read. */
const TURNING = 1000;
const CLIENT = "lapsus-web";

export class Page {
  /** @param {{words: import("./words.js").Words, scheme: import("./types.js").Scheme, outbox: import("./outbox.js").Outbox,
   *   makePart: Awaited<ReturnType<typeof import("./parts/all.js").loadParts>>}} tools */
  constructor({ words, scheme, outbox, makePart }) {
    this.makePart = makePart;
    this.words = words;
    this.scheme = scheme;
    this.outbox = outbox;
    this.oneTouch = isOneTouch(scheme);
    this.clock = new Clock();
    this.notices = new Notices();
    this.keys = new Keys(words);
    this.bar = new Bar(this);
    this.messages = new Messages(this);
    /** @type {number[]} units that one came from, for the way back */
    this.trail = [];
    /** @type {string|null} the question that keys speak to */
    this.current = null;
    /** @type {ReturnType<typeof setTimeout>|undefined} */
    this.draft = undefined;
    this.listen();
  }

  listen() {
    this.keys.first = (name) => speakToParts(this, name);
    this.keys.use("answers", []);
    this.keys.use("page", pageBindings(this));
    this.outbox.addEventListener("saved", (event) => this.saved(/** @type {CustomEvent} */ (event).detail));
    this.outbox.addEventListener("refused", (event) => this.refused(/** @type {CustomEvent} */ (event).detail.entry));
    addEventListener("popstate", () => this.go(Number(location.pathname.split("/").at(-1)), { push: false }));
    addEventListener("pagehide", () => this.keepDraft());
    document.addEventListener("visibilitychange", () => document.hidden && this.keepDraft());
    addEventListener("online", () => this.waitsForUnit && this.waitsForUnit());
  }

  /** Whether nothing can be answered here: somebody else's unit, or a campaign that is closed. */
  get isClosed() {
    return this.unit.state === "view" || this.unit.campaign_state === "closed";
  }

  /** Show a unit. @param {Unit} unit @param {{push?: boolean}} [how] */
  async open(unit, { push = false } = {}) {
    // What waits to be sent is newer than what the server knows.
    const waiting = await this.outbox.newestOf(unit.campaign, unit.number);
    this.keepDraft();
    this.unit = unit;
    this.sheet = waiting?.sheet ?? randomName();
    this.revision = waiting?.body.base_revision ?? unit.revision;
    this.submitted = waiting ? waiting.body.submitted && !waiting.refused : unit.submitted;
    this.history = new History(waiting?.body.answers ?? unit.answers);
    /** @type {string|null} the answer after whose arrival the page goes on */
    this.leaving = null;
    this.leftAt = 0;
    /** @type {number|null} where to go on after the practice has told how it went */
    this.onward = null;
    /** @type {(() => any)|null} what is tried again when the network is back */
    this.waitsForUnit = null;
    this.hasTried = false;
    this.clock.start(Number(sessionStorage.getItem(this.timeKey) ?? 0));
    if (push) history.pushState(null, "", `/c/${unit.campaign}/u/${unit.number}`);
    this.draw();
  }

  get timeKey() {
    return `time:${this.unit.campaign}:${this.unit.number}`;
  }

  draw() {
    const { unit, scheme, words } = this;
    this.guide = new Guide(scheme, words, unit.campaign);
    this.current = null;
    byId("main").dataset.unit = String(unit.number);
    byId("main").classList.toggle("one-touch", this.oneTouch);
    byId("main").classList.toggle("has-spans", scheme.questions.some((question) => question.kind === "spans"));
    drawDocument(unit, scheme, words, (number) => this.go(number));
    /** @type {Part[]} */
    this.parts = scheme.questions.map((question) => this.makePart(question, this));
    this.submitButton = el("button", { type: "button", class: "primary", disabled: this.isClosed }, "");
    this.submitButton.addEventListener("click", () => this.submit());
    this.problems = el("div", { class: "problems", role: "alert" });
    const foot = el("div", { class: "foot" }, this.submitButton, el("span", { class: "quiet small", id: "judged-state" }));
    const aids = { suggestion: suggestionPanel(this), feedback: feedbackPanel(this) };
    this.feedback = aids.feedback;
    const asked = [aids.suggestion, ...this.parts.map((part) => part.element), this.problems, aids.feedback, foot];
    byId("questions").replaceChildren(...asked.filter((one) => one !== null));
    if (this.isClosed) byId("questions").querySelectorAll("button").forEach((/** @type {any} */ button) => (button.disabled = true));
    this.keys.use("answers", this.partBindings());
    this.refresh();
    this.bar.show();
    const first = this.parts[0];
    this.guide.explain(this.oneTouch || !first ? {} : { question: first.question });
    this.reveal();
  }

  /** Bring what is to be judged into sight, moving as little as possible. */
  reveal() {
    const place = byId("document");
    if (place.scrollHeight > place.clientHeight + 1) place.tabIndex = 0;
    else place.removeAttribute("tabindex");
    const target = place.querySelector(".target");
    target?.scrollIntoView({ block: "nearest" });
    if (!target || !this.oneTouch) return;
    // The choices stay at the lower edge of the window; what is judged must not lie behind them.
    const hidden = target.getBoundingClientRect().bottom - byId("questions").getBoundingClientRect().top;
    if (hidden > 0) scrollBy(0, hidden + 8);
  }

  /** Each key once, though several questions may have it. */
  partBindings() {
    const seen = new Set();
    const bindings = this.parts.flatMap((part) => part.bindings ?? []);
    if (this.unit.suggestion) bindings.push({ keys: [TAKE_KEY], label: this.words.say("keys.take"), run: () => this.takeSuggestion() });
    return bindings.filter((binding) => {
      const name = `${binding.keys.join()} ${binding.label}`;
      return !seen.has(name) && seen.add(name);
    });
  }

  /** Show the answers in all parts. */
  refresh() {
    for (const part of this.parts) part.show(this.history.now[part.question.id]);
    // Where one touch answers, there is nothing to submit before it.
    this.submitButton.hidden = this.oneTouch && !Object.keys(this.history.now).length;
    byId("judged-state").textContent = this.submitted ? this.words.say("submitted") : "";
    if (this.feedback) this.feedback.hidden = !this.submitted;
    this.submitButton.replaceChildren(this.words.say(this.feedback && this.submitted ? "practice.go-on" : "submit"), " ", kbd("↵"));
    if (this.hasTried) this.check();
  }

  /** A part has a new answer. @param {string} question @param {any} answer @param {{typing?: boolean}} [how] */
  set(question, answer, how) {
    if (this.isClosed || this.isTurning || !this.history.set(question, answer, how)) return;
    this.changed(how?.typing ? TYPING : QUIET);
  }

  /** Whether the page is just about to go on. */
  get isTurning() {
    return this.leaving !== null && performance.now() - this.leftAt < TURNING;
  }

  /** @param {number} [quiet] */
  changed(quiet = QUIET) {
    this.submitted = false;
    this.leaving = null;
    this.refresh();
    clearTimeout(this.draft);
    this.draft = setTimeout(() => this.keepDraft(), quiet);
    this.bar.showSaved();
  }

  /** An answer was chosen. Where that is all, the next unit comes by itself. @param {Question} question */
  chosen(question) {
    if (this.oneTouch && question.kind === "label") this.submit();
  }

  /** Answer as the program would. Where one touch answers, this is one. */
  takeSuggestion() {
    const { suggestion } = this.unit;
    if (!suggestion || this.isClosed || this.isTurning) return;
    if (this.history.take(suggestion.answers)) this.changed();
    if (this.oneTouch) this.submit();
  }

  /** Keep what is there so far, if it is not kept yet. */
  keepDraft() {
    if (this.draft === undefined) return;
    sessionStorage.setItem(this.timeKey, String(this.clock.seconds()));
    this.save(false);
  }

  /** @param {boolean} submitted @param {string} [key] @returns {Promise<void>} when it is kept here */
  save(submitted, key = randomName()) {
    clearTimeout(this.draft);
    this.draft = undefined;
    const { unit, sheet } = this;
    const body = {
      answers: this.history.now,
      submitted,
      given_at: new Date().toISOString(),
      seconds: submitted ? this.clock.seconds() : null,
      client: CLIENT,
      base_revision: this.revision,
      suggested: unit.suggestion !== undefined,
    };
    return this.outbox.add({ campaign: unit.campaign, unit: unit.number, sheet, kind: "judgments", body }, key);
  }

  /** Rules first, as the server has them; then keep, send and go on. */
  async submit() {
    if (this.isClosed || this.isTurning) return;
    this.parts.forEach((part) => part.commit?.());
    if (this.submitted) {
      // Nothing is new: just go on, or go on waiting.
      if (this.waitsForUnit) await this.waitsForUnit();
      else if (this.leaving === null) await this.goOn(this.onward);
      return;
    }
    const broken = this.check();
    if (broken.length) {
      this.hasTried = true;
      this.parts.find((part) => part.question.id === broken[0].question)?.focus();
      return;
    }
    this.submitted = true;
    this.leaving = randomName();
    this.leftAt = performance.now();
    const kept = this.save(true, this.leaving);
    sessionStorage.removeItem(this.timeKey);
    this.clock.start();
    this.refresh();
    await kept;
  }

  /** @returns {import("./types.js").Broken[]} */
  check() {
    const broken = brokenRules(this.scheme, this.history.now, seenOf(this.unit), this.words);
    for (const part of this.parts) {
      const mine = broken.filter((rule) => rule.question === part.question.id);
      /** @type {any} */ (part.element.querySelector(".broken")).textContent = mine.map((rule) => rule.message).join(" ");
    }
    const rest = broken.filter((rule) => !this.parts.some((part) => part.question.id === rule.question));
    this.problems.replaceChildren(...rest.map((rule) => el("p", { class: "broken", text: rule.message })));
    return broken;
  }

  /** The server has an answer. @param {{entry: import("./types.js").Entry, saved: import("./types.js").Saved, elsewhere?: boolean}} what */
  saved(what) {
    const { entry, saved } = what;
    this.bar.sawSave(entry);
    if (entry.kind !== "judgments" || entry.campaign !== this.unit.campaign || entry.unit !== this.unit.number) return;
    if (entry.sheet === this.sheet) {
      this.revision = saved.revision;
      if (saved.replaced !== null) this.notices.show("replaced", this.words.say("replaced", { revision: saved.replaced }));
      if (entry.key === this.leaving) this.unit.part === "training" ? this.learn(saved.next) : this.goOn(saved.next);
    } else if (saved.revision > this.revision) {
      const actions = [{ label: this.words.say("elsewhere.show"), run: () => this.go(entry.unit, { push: false }) }];
      this.notices.show("elsewhere", this.words.say("elsewhere.said"), { actions });
    }
  }

  /** The server does not take an answer. Whoever was asked to stop is told so on a page of its own. @param {import("./types.js").Entry} entry */
  refused(entry) {
    if (entry.refused?.reason === "stopped" && entry.campaign === this.unit.campaign) location.assign(`/c/${entry.campaign}/judge`);
  }

  /** In the practice: show how it went before going on. @param {number|null} next */
  async learn(next) {
    await this.travel(async () => {
      await this.open(await fetchUnit(this.unit.campaign, this.unit.number));
      this.onward = next;
    });
    if (this.feedback) this.submitButton.focus();
    else if (!this.waitsForUnit) await this.goOn(next);
  }

  /** On to a unit, or to whatever is free next, or to the page that says why there is nothing:
   * what to read first, or that all is done. @param {number|null} next */
  async goOn(next) {
    const from = this.unit.number;
    await this.travel(async () => {
      const number = next ?? (await fetchNext(this.unit.campaign));
      if (number === null) location.assign(`/c/${this.unit.campaign}/judge`);
      else await this.open(await fetchUnit(this.unit.campaign, number), { push: true });
      this.trail.push(from);
    });
    this.messages.look();
  }

  /** To a unit. @param {number} number @param {{push?: boolean}} [how] */
  async go(number, { push = true } = {}) {
    this.keepDraft();
    await this.travel(async () => {
      const unit = await fetchUnit(this.unit.campaign, number);
      await this.open(unit, { push });
    });
  }

  /** Try to get somewhere; where there is no network, wait for it. @param {() => Promise<void>} move */
  async travel(move) {
    const here = this.unit;
    try {
      await move();
      this.leaving = null;
      this.notices.hide("travel", "elsewhere");
      byId("main").focus({ preventScroll: true });
    } catch (error) {
      if (!(error instanceof TravelError)) throw error;
      if (error.status === 401) location.assign(`/sign-in?next=${encodeURIComponent(location.pathname)}`);
      else if (error.status && error.status < 500) this.notices.show("travel", error.message, { warn: true });
      else {
        // Only as long as one stays: whoever moves on meanwhile has another aim.
        this.waitsForUnit = () => this.unit === here && this.travel(move);
        const actions = [{ label: this.words.say("try-again"), run: () => this.waitsForUnit?.() }];
        this.notices.show("travel", this.words.say("no-network"), { warn: true, actions });
      }
    }
  }

  undo() {
    if (this.history.undo()) this.changed();
    else if (this.oneTouch) this.goBack();
  }

  redo() {
    if (this.history.redo()) this.changed();
  }

  /** Back to where one came from. */
  goBack() {
    const number = this.trail.pop() ?? this.unit.previous;
    if (number) this.go(number);
  }

  /** The question that has focus; keys speak to it first. @param {string} question */
  attend(question) {
    this.current = question;
  }
}
