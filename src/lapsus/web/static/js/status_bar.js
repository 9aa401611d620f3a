/** What stands around the work: how far one is, whether all is saved, and the ways to other units. */
import { at } from "./addresses.js";
import { byId, el } from "./dom.js";
import { askFlag } from "./shortcuts.js";

const ONLY_OPEN = "only-open";

export class Bar {
  /** @param {import("./judging_page.js").Page} page */
  constructor(page) {
    this.page = page;
    this.hasSaved = false;
    /** @type {Set<string>} units that were submitted since the page was loaded */
    this.submitted = new Set();
    this.onlyOpen = byId(ONLY_OPEN).querySelector("input");
    this.onlyOpen.checked = sessionStorage.getItem(ONLY_OPEN) === "1";
    for (const id of ["help", "jump", ONLY_OPEN, "flag"]) byId(id).hidden = false;
    this.listen();
  }

  listen() {
    const { page } = this;
    byId("help").addEventListener("click", () => page.keys.show());
    byId("flag").addEventListener("click", () => askFlag(page));
    byId("guideline").addEventListener("click", (/** @type {MouseEvent} */ event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      page.guide.open();
    });
    for (const side of /** @type {const} */ (["previous", "next"])) {
      byId(side).addEventListener("click", (/** @type {MouseEvent} */ event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        this.step(side);
      });
    }
    byId("jump").addEventListener("submit", (/** @type {Event} */ event) => {
      event.preventDefault();
      const number = Number(byId("jump-to").value.trim());
      if (Number.isInteger(number) && number > 0) page.travel.to(number);
    });
    this.onlyOpen.addEventListener("change", () => {
      sessionStorage.setItem(ONLY_OPEN, this.onlyOpen.checked ? "1" : "");
      this.show();
    });
    page.outbox.addEventListener("change", () => this.showSaved());
    page.outbox.addEventListener("refused", () => this.showSaved());
  }

  /** The unit on one side: any of one's own, or only those still to be judged. @param {"previous"|"next"} side */
  target(side) {
    const { unit } = this.page;
    if (!this.onlyOpen.checked) return unit[side];
    const open = unit.unjudged.filter((number) => !this.submitted.has(`${unit.campaign}/${number}`));
    const found = side === "next" ? open.find((number) => number > unit.number) : open.filter((number) => number < unit.number).at(-1);
    return found ?? null;
  }

  /** @param {"previous"|"next"} side */
  step(side) {
    const number = this.target(side);
    if (number !== null) this.page.travel.to(number);
  }

  jump() {
    byId("jump-to").focus();
    byId("jump-to").select();
  }

  /** An answer has arrived. @param {import("./types.js").Entry} entry */
  sawSave(entry) {
    this.hasSaved = true;
    if (entry.body.submitted) this.submitted.add(`${entry.campaign}/${entry.unit}`);
  }

  show() {
    const { unit, words } = this.page;
    const name = words.say("unit", { number: unit.number });
    // Which of one's own it is; the field to go elsewhere says which of the campaign's.
    byId("place").hidden = !unit.position;
    byId("place").textContent = words.say("position", { position: unit.position, own: unit.own });
    document.title = `${name} · ${unit.title} · Lapsus`;
    byId("heading").textContent = `${name} · ${unit.title}`;
    byId("progress").textContent = words.say("progress", unit);
    byId("progress").title = words.say("progress-long", unit);
    byId("jump-to").value = String(unit.number);
    byId("open-count").textContent = unit.unjudged.length ? `(${unit.unjudged.length})` : "";
    for (const side of /** @type {const} */ (["previous", "next"])) {
      const number = this.target(side);
      if (number === null) byId(side).removeAttribute("href");
      else byId(side).href = at(`/c/${unit.campaign}/u/${number}`);
      byId(side).setAttribute("aria-disabled", String(number === null));
    }
    for (const link of document.querySelectorAll("a.language")) {
      /** @type {HTMLAnchorElement} */ (link).href = `${location.pathname}?lang=${/** @type {HTMLElement} */ (link).lang}`;
    }
    this.showState();
    this.showSaved();
  }

  /** What is special about this unit or its campaign. */
  showState() {
    const { unit, words, notices } = this.page;
    notices.hide("state", "practice", "replaced", "flag");
    if (unit.part === "training") notices.show("practice", words.say("practice.marked"));
    const state = unit.campaign_state !== "open" ? unit.campaign_state : unit.state;
    if (["closed", "paused", "view", "released", "extra"].includes(state)) notices.show("state", words.say(`states.${state}`));
  }

  /** Saved is said only when nothing waits, and nothing has changed since. */
  showSaved() {
    const { outbox, words, notices, unit, draft } = this.page;
    const place = byId("saved");
    const { waiting, isOff } = outbox;
    place.className = waiting && isOff ? "warn" : "good";
    if (waiting && isOff) place.textContent = words.say("waiting", { count: waiting });
    else if (waiting || draft !== undefined) place.textContent = words.say("saving");
    else place.textContent = this.hasSaved || unit?.revision ? words.say("saved") : "";
    if (outbox.needsSignIn && waiting) {
      const href = at(`/sign-in?next=${encodeURIComponent(location.pathname)}`);
      notices.show("sign-in", words.say("sign-in.again"), { warn: true, actions: [{ label: words.say("sign-in.go"), href }] });
    } else notices.hide("sign-in");
    this.showRefused();
  }

  /** What the server did not accept: kept, and shown with why. */
  showRefused() {
    const { outbox, words, notices } = this.page;
    const first = outbox.refused[0];
    if (!first) return notices.hide("refused");
    const said = (first.refused?.messages ?? []).join(" ");
    const actions = [
      { label: words.say("refused.look", { number: first.unit }), href: at(`/c/${first.campaign}/u/${first.unit}`) },
      { label: words.say("refused.discard"), run: () => outbox.discard(first) },
    ];
    return notices.show("refused", words.say("refused.said", { number: first.unit, why: said }), { warn: true, actions });
  }
}

/** What the page has to tell: short, above the work, gone when it no longer holds. */
export class Notices {
  constructor() {
    this.place = byId("notices");
    this.place.setAttribute("aria-live", "polite");
    /** @type {Map<string, HTMLElement>} */
    this.shown = new Map();
  }

  /**
   * @param {string} id the same id takes the place of what it said before
   * @param {string} text
   * @param {{warn?: boolean, actions?: {label: string, run?: () => void, href?: string}[]}} [how]
   */
  show(id, text, { warn = false, actions = [] } = {}) {
    const before = this.shown.get(id);
    if (before?.firstChild?.textContent === text) return before.classList.remove("over");
    const buttons = actions.map(({ label, run, href }) =>
      href
        ? el("a", { href, text: label })
        : el("button", { type: "button", class: "plain", text: label, on: { click: () => run?.() } }),
    );
    const made = el("div", { class: warn ? "notice warn" : "notice", data: { notice: id } }, el("span", { text }), ...buttons);
    if (before) before.replaceWith(made);
    else this.place.append(made);
    this.shown.set(id, made);
  }

  /** It holds no more. Its place stays, so that nothing moves under a finger. @param {string} id */
  fade(id) {
    this.shown.get(id)?.classList.add("over");
  }

  /** @param {...string} ids */
  hide(...ids) {
    for (const id of ids) {
      this.shown.get(id)?.remove();
      this.shown.delete(id);
    }
  }
}
