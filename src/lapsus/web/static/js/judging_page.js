/**
 * The judging page: one unit, its questions, and the way on.
 * @typedef {import("./types.js").Unit} Unit
 * @typedef {import("./types.js").Question} Question
 * @typedef {import("./types.js").Widget} Widget
 */
import { at } from "./addresses.js";
import { AnswerGuard } from "./answer_guard.js";
import { feedbackPanel, suggestionPanel, TAKE_KEY } from "./suggestion_panels.js";
import { History } from "./answer_history.js";
import { Bar, Notices } from "./status_bar.js";
import { drawDocument } from "./conversation.js";
import { byId, el, kbd, randomName } from "./dom.js";
import { drawThreads, withWaiting } from "./flag_threads.js";
import { Guide } from "./guideline_panel.js";
import { isTyping, Keys } from "./key_bindings.js";
import { OfflineWork } from "./offline_work.js";
import { askedAnswers, brokenRules, seenOf, showParts } from "./rules.js";
import { isOneTouch, isRequired } from "./scheme.js";
import { numberBindings, pageBindings, speakToWidgets } from "./shortcuts.js";
import { Clock } from "./work_timer.js";
import { Travel } from "./unit_travel.js";

/** Milliseconds without a change after which a draft is kept: longer while somebody types. */
const QUIET = 250;
const TYPING = 700;
const CLIENT = "lapsus-web";
/** Milliseconds for which it is told that a press or a touch did not count. */
const DROPPED = 6000;

export class Page {
  // What `open` and `draw` set before anything else can happen.
  /** @type {Unit} */ unit;
  /** @type {import("./wire_types.js").Flag[]} */ flags;
  /** @type {string} */ sheet;
  /** @type {History} */ history;
  /** @type {Guide} */ guide;
  /** @type {Widget[]} */ parts;
  /** @type {HTMLButtonElement} */ submitButton;
  /** @type {HTMLElement} */ problems;

  /** @param {{words: import("./words.js").Words, scheme: import("./types.js").Scheme, outbox: import("./outbox.js").Outbox,
   *   makeWidget: Awaited<ReturnType<typeof import("./widgets/registry.js").loadWidgets>>}} tools */
  constructor({ words, scheme, outbox, makeWidget }) {
    this.makePart = makeWidget;
    this.words = words;
    this.scheme = scheme;
    this.outbox = outbox;
    this.oneTouch = isOneTouch(scheme);
    this.clock = new Clock();
    this.notices = new Notices();
    this.guard = new AnswerGuard(byId("main"), (why) => this.dropped(why));
    this.keys = new Keys(words);
    this.bar = new Bar(this);
    this.offline = new OfflineWork(this);
    this.travel = new Travel(this);
    /** @type {string|null} the question that keys speak to */
    this.current = null;
    /** @type {string|null} the last of them that takes numbers */
    this.numbered = null;
    /** @type {ReturnType<typeof setTimeout>|undefined} */
    this.draft = undefined;
    /** @type {ReturnType<typeof setTimeout>|undefined} */
    this.told = undefined;
    this.listen();
  }

  listen() {
    this.keys.first = (name) => speakToWidgets(this, name);
    this.keys.held = () => this.dropped("held");
    this.guard.watch(byId("questions"), "button:not(.opener), [role=option]");
    this.keys.use("answers", []);
    this.keys.use("page", pageBindings(this));
    this.outbox.addEventListener("saved", (event) => this.saved(/** @type {CustomEvent} */ (event).detail));
    this.outbox.addEventListener("refused", (event) => this.refused(/** @type {CustomEvent} */ (event).detail.entry));
    if (this.oneTouch) {
      const sizes = new ResizeObserver(() => this.uncover());
      [byId("questions"), byId("notices")].forEach((one) => sizes.observe(one));
    }
    // Whoever leaves a field is again at the question that was answered before it.
    byId("questions").addEventListener("focusout", (/** @type {FocusEvent} */ event) => {
      if (isTyping(event.target) && this.numbered !== null) this.attend(this.numbered);
    });
    addEventListener("pagehide", () => this.keepDraft());
    document.addEventListener("visibilitychange", () => document.hidden && this.keepDraft());
  }

  /** Whether nothing can be answered here: somebody else's unit, or a campaign that is closed. */
  get isClosed() {
    return this.unit.state === "view" || this.unit.campaign_state === "closed";
  }

  /** Show a unit. @param {Unit} unit @param {{push?: boolean}} [how] */
  async open(unit, { push = false } = {}) {
    // What waits to be sent is newer than what the server knows.
    const waiting = await this.outbox.newestOf(unit.campaign, unit.number);
    const said = await this.outbox.flagsOf(unit.campaign, unit.number);
    // A number that was typed a moment ago is about the unit that is still here.
    this.parts?.forEach((part) => part.commit?.());
    this.keepDraft();
    this.unit = unit;
    this.flags = withWaiting(unit, said);
    this.words.guideline = unit.guideline;
    this.sheet = waiting?.sheet ?? randomName();
    this.revision = waiting?.body.base_revision ?? unit.revision;
    this.submitted = waiting ? waiting.body.submitted && !waiting.refused : unit.submitted;
    /** Whether the server has it; until then nobody is told that it is submitted. */
    this.hasArrived = !waiting && unit.submitted;
    /** Whether what was submitted is taken back, until it is submitted anew. */
    this.withdrawn = waiting?.body.withdrawn ?? false;
    this.history = new History(waiting?.body.answers ?? unit.answers, (answers) => askedAnswers(this.scheme, answers));
    this.travel.arrived();
    this.hasTried = false;
    this.clock.start(Number(sessionStorage.getItem(this.timeKey) ?? 0));
    if (push) history.pushState(null, "", at(`/c/${unit.campaign}/u/${unit.number}`));
    this.draw();
    this.offline.opened(unit);
  }

  get timeKey() {
    return `time:${this.unit.campaign}:${this.unit.number}`;
  }

  draw() {
    const { unit, scheme, words } = this;
    byId("document").querySelector("dialog")?.close();
    this.guide = new Guide(scheme, words, unit.campaign);
    this.current = this.numbered = null;
    byId("main").dataset.unit = String(unit.number);
    byId("guide").lang = unit.guideline ?? words.language;
    byId("main").classList.toggle("one-touch", this.oneTouch);
    for (const kind of ["spans", "preference"]) {
      byId("main").classList.toggle(`has-${kind}`, scheme.questions.some((question) => question.kind === kind));
    }
    drawDocument(unit, scheme, words, (number) => this.travel.to(number));
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
    this.drawThreads();
    if (this.oneTouch) this.reveal();
    else this.begin();
    this.guard.drawn();
  }

  /** Something did not count: say so, for a while. @param {"too-soon"|"held"} why */
  dropped(why) {
    if (this.isClosed) return;
    clearTimeout(this.told);
    this.notices.show("dropped", this.words.say(`dropped.${why}`), { warn: true });
    this.told = setTimeout(() => this.notices.fade("dropped"), DROPPED);
  }

  /** Whether an answer cannot be taken just now; where it comes too soon, that is told. */
  refuses() {
    if (this.isClosed) return true;
    if (!this.travel.isTurning) return this.guard.refuses();
    this.dropped("too-soon");
    return true;
  }

  /** The talk about this unit. */
  drawThreads() {
    drawThreads(this, byId("guide"));
  }

  /** Open at the top, or as far down as it takes, with the first question that has no answer yet in focus: what keys change is what one sees. */
  begin() {
    // Several labels can always be added to or taken back.
    const open = this.isClosed ? undefined : (this.openParts()[0] ?? this.parts.find((part) => part.question.kind === "labels" && part.digit));
    // Labels have keys of their own: the arrows are left to the page.
    if (open?.question.kind === "labels") {
      byId("main").focus({ preventScroll: true });
      this.attend(open.question.id);
    } else open?.focus();
    for (const place of [byId("document"), byId("questions")]) place.scrollTop = 0;
    scrollTo(0, 0);
    this.parts.forEach((part) => part.begin?.());
    this.reveal();
    // Of a unit begun before, the question may lie far down: an answer that nobody sees is none.
    if (open && open !== this.parts[0]) open.element.scrollIntoView({ block: "nearest" });
  }

  /** The questions that wait for an answer; those that may be left out wait for nobody. */
  openParts() {
    return this.parts.filter((part) => !part.element.hidden && isRequired(part.question) && this.history.now[part.question.id] === undefined);
  }

  /** A key has answered a question: on to the next one that has no answer, the way it goes down the page.
   * @param {Question} question @param {boolean} [isDone] @returns {boolean} whether there is one */
  advance(question, isDone = this.history.now[question.id] !== undefined) {
    if (this.oneTouch || !isDone) return false;
    const open = this.openParts();
    const place = this.parts.findIndex((part) => part.question === question);
    const next = open.find((one) => this.parts.indexOf(one) > place) ?? open[0];
    next?.focus();
    next?.element.scrollIntoView({ block: "nearest" });
    return next !== undefined;
  }

  /** The Enter key. No other key says that enough labels are chosen: it goes on to what still waits, else it submits. */
  enter() {
    if (this.refuses()) return;
    const part = this.parts.find((one) => one.question.id === this.current);
    if (part?.question.kind === "labels" && part.digit) {
      part.commit?.();
      const isDone = !isRequired(part.question) || this.history.now[part.question.id] !== undefined;
      if (this.advance(part.question, isDone)) return;
    }
    this.submit();
  }

  /** Bring what is to be judged into sight, moving as little as possible. */
  reveal() {
    const place = byId("document");
    if (place.scrollHeight > place.clientHeight + 1) place.tabIndex = 0;
    else place.removeAttribute("tabindex");
    const target = place.querySelector(".target");
    target?.scrollIntoView({ block: "nearest" });
    if (this.oneTouch) this.uncover();
  }

  /** The choices stay at the lower edge of the window; what is judged must not lie behind them, whatever they grow to. */
  uncover() {
    const judged = byId("document").querySelector(".target")?.getBoundingClientRect();
    const choices = byId("questions").getBoundingClientRect();
    if (judged && judged.bottom > choices.top && judged.top < choices.bottom) scrollBy(0, judged.bottom - choices.top + 8);
  }

  /** Each key once, though several questions may have it. */
  partBindings() {
    const seen = new Set();
    const bindings = [...numberBindings(this), ...this.parts.flatMap((part) => part.bindings ?? [])];
    if (this.unit.suggestion) bindings.push({ keys: [TAKE_KEY], label: this.words.say("keys.take"), run: () => this.takeSuggestion() });
    return bindings.filter((binding) => {
      const name = `${binding.keys.join()} ${binding.label}`;
      return !seen.has(name) && seen.add(name);
    });
  }

  /** Show the answers in all parts. */
  refresh() {
    showParts(this.scheme, this.parts, this.history.now);
    // Where one touch answers, there is nothing to submit before it.
    this.submitButton.hidden = this.oneTouch && !Object.keys(this.history.now).length;
    this.showJudged();
    if (this.feedback) this.feedback.hidden = !this.submitted;
    this.submitButton.replaceChildren(this.words.say(this.feedback && this.submitted ? "practice.go-on" : "submit"), " ", kbd("↵"));
    if (this.hasTried) this.check();
  }

  /** What became of the answer: on the server, or only here. */
  showJudged() {
    const place = byId("judged-state");
    if (place) place.textContent = !this.submitted ? "" : this.hasArrived ? this.words.say("submitted") : this.outbox.isOff ? this.words.say("kept") : "";
  }

  /** A part has a new answer. @param {string} question @param {any} answer @param {{typing?: boolean}} [how] */
  set(question, answer, how) {
    if (this.isClosed || this.travel.isTurning || !this.history.set(question, answer, how)) return;
    this.changed(how?.typing ? TYPING : QUIET);
  }

  /** @param {number} [quiet] */
  changed(quiet = QUIET) {
    this.submitted = false;
    this.travel.leaving = null;
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
    if (!suggestion || this.refuses()) return;
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
      withdrawn: this.withdrawn && !submitted,
      given_at: new Date().toISOString(),
      seconds: submitted ? this.clock.seconds() : null,
      client: CLIENT,
      base_revision: this.revision,
      suggested: unit.suggestion !== undefined,
      guideline: unit.guideline,
      ...this.procedure(),
    };
    return this.outbox.add({ campaign: unit.campaign, unit: unit.number, sheet, kind: "judgments", body }, key);
  }

  /** The way to the answers, as far as the parts know it. @returns {{walk: string[], steps: string[]}} */
  procedure() {
    const ways = this.parts.map((part) => part.procedure?.() ?? {});
    return { walk: ways.flatMap((way) => way.walk ?? []), steps: ways.flatMap((way) => way.steps ?? []) };
  }

  /** Rules first, as the server has them; then keep, send and go on. */
  async submit() {
    if (this.refuses()) return;
    this.parts.forEach((part) => part.commit?.());
    if (this.submitted) return this.travel.again();
    const broken = this.check();
    if (broken.length) {
      this.hasTried = true;
      this.parts.find((part) => part.question.id === broken[0].question)?.focus();
      return;
    }
    this.submitted = true;
    this.hasArrived = this.withdrawn = false;
    const kept = this.save(true, this.travel.leave());
    sessionStorage.removeItem(this.timeKey);
    this.clock.start();
    this.refresh();
    await kept;
  }

  /** @returns {import("./types.js").Broken[]} */
  check() {
    const unfinished = this.parts.flatMap((part) => part.unfinished?.() ?? []);
    const broken = [...brokenRules(this.scheme, this.history.now, seenOf(this.unit), this.words), ...unfinished];
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
      this.hasArrived = entry.body.submitted;
      this.showJudged();
      if (saved.replaced !== null) this.notices.show("replaced", this.words.say("replaced", { revision: saved.replaced }));
      if (entry.key === this.travel.leaving) this.unit.part === "training" ? this.travel.learn(saved.next) : this.travel.on(saved.next);
    } else if (saved.revision > this.revision) {
      const actions = [{ label: this.words.say("elsewhere.show"), run: () => this.travel.to(entry.unit, { push: false }) }];
      this.notices.show("elsewhere", this.words.say("elsewhere.said"), { actions });
    }
  }

  /** The server does not take an answer. Whoever was asked to stop is told so on a page of its own. @param {import("./types.js").Entry} entry */
  refused(entry) {
    if (entry.refused?.reason === "stopped" && entry.campaign === this.unit.campaign) location.assign(at(`/c/${entry.campaign}/judge`));
  }

  undo() {
    if (this.history.undo()) this.changed();
    else this.travel.undo();
  }

  /** Take back what was submitted here: it is a draft again, counts nowhere, and is among what is still to be judged. */
  withdraw() {
    if (!this.submitted || this.isClosed || this.feedback) return;
    const { unit } = this;
    this.submitted = this.hasArrived = false;
    this.withdrawn = true;
    this.save(false);
    this.bar.submitted.delete(`${unit.campaign}/${unit.number}`);
    unit.unjudged = [...new Set([...unit.unjudged, unit.number])].sort((one, other) => one - other);
    unit.done = Math.max(0, unit.done - 1);
    this.refresh();
    this.bar.show();
    this.notices.show("undo", this.words.say("withdrawn"));
    this.travel.fadeLater();
  }

  redo() {
    if (this.history.redo()) this.changed();
  }

  /** The question that has focus; keys speak to it first. @param {string} question */
  attend(question) {
    this.current = question;
    if (this.parts?.find((part) => part.question.id === question)?.digit) this.numbered = question;
    for (const part of this.parts ?? []) part.element.classList.toggle("current", part.question.id === question);
  }
}
