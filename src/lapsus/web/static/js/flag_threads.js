/**
 * The talk about the unit: what one flagged, what was said to it, and whether it is settled.
 * @typedef {import("./wire_types.js").Flag} Flag
 * @typedef {import("./judging_page.js").Page} Page
 */
import { at } from "./addresses.js";
import { el, newId, randomName } from "./dom.js";

/**
 * The flags of a unit, with what was said here and is not sent yet.
 * @param {import("./types.js").Unit} unit
 * @param {import("./types.js").Entry[]} waiting
 * @returns {Flag[]}
 */
export function withWaiting(unit, waiting) {
  const flags = unit.flags.map((flag) => ({ ...flag, replies: [...flag.replies] }));
  for (const { body, at } of waiting) {
    const flag = flags.find((one) => one.id === body.flag);
    if (flag) flag.replies.push(own(body.text, at));
    else flags.push({ ...own(body.text, at), id: 0, unit: unit.number, settled: false, unread: false, replies: [] });
  }
  return flags;
}

/** What oneself says. @param {string} text @param {string} [at] */
export function own(text, at = new Date().toISOString()) {
  return { name: "", text, at, own: true };
}

/** Draw the threads of the unit above the guideline, where they cover nothing. @param {Page} page @param {HTMLElement} place */
export function drawThreads(page, place) {
  place.querySelector(".threads")?.remove();
  const { flags } = page;
  page.notices.hide("answered");
  if (!flags.length) return;
  const title = el("h2", { text: page.words.say("flag.thread") });
  const section = el("section", { class: "threads", lang: page.words.language }, title, ...flags.map((flag) => drawThread(page, flag)));
  place.prepend(section);
  if (!flags.some((flag) => flag.unread)) return;
  const look = { label: page.words.say("flag.look"), run: () => section.scrollIntoView({ block: "center" }) };
  page.notices.show("answered", page.words.say("flag.answered"), { actions: [look] });
}

/** @param {Page} page @param {Flag} flag */
function drawThread(page, flag) {
  const word = (/** @type {string} */ key) => page.words.common(`flag.${key}`);
  const state = el("span", { class: flag.settled ? "good" : "warn", text: word(flag.settled ? "settled" : "open") });
  const act = (/** @type {string} */ what, /** @type {string} */ kind = "plain") =>
    el("button", { type: "button", class: kind, text: word(what), on: { click: () => tell(page, flag, what) } });
  return el(
    "article",
    { class: "thread", data: { flag: flag.id } },
    said(page, flag, state),
    ...flag.replies.map((reply) => el("div", { class: "reply" }, said(page, reply))),
    flag.unread ? act("seen", "") : null,
    el("div", { class: "thread-acts" }, flag.id ? replying(page, flag) : null, flag.id ? act(flag.settled ? "reopen" : "settle") : null),
  );
}

/** Who said what, and when. @param {Page} page @param {{name: string, text: string, at: string, own: boolean}} what @param {Node} [state] */
function said(page, { name, text, at, own }, state) {
  const when = new Intl.DateTimeFormat(page.words.language, { dateStyle: "medium", timeStyle: "short" }).format(new Date(at));
  const who = el("span", { text: own ? page.words.common("flag.me") : name });
  return el("div", {}, el("p", { class: "thread-head" }, state, who, el("time", { datetime: at, text: when })), el("p", { class: "flag-text", dir: "auto", text }));
}

/** A button that opens a field for a reply. It is kept like any answer until it is sent. @param {Page} page @param {Flag} flag */
function replying(page, flag) {
  const { words, unit } = page;
  const id = newId();
  const area = el("textarea", { id, rows: 2, maxlength: 2000, required: true });
  const form = el("form", { hidden: true }, el("label", { for: id, class: "visually-hidden", text: words.common("flag.reply-to", { unit: unit.number }) }), area, el("button", { text: words.common("flag.send") }));
  const open = el("button", { type: "button", class: "plain", text: words.common("flag.reply") });
  open.addEventListener("click", () => {
    open.hidden = true;
    form.hidden = false;
    area.focus();
  });
  area.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const text = area.value.trim();
    if (!text) return;
    flag.replies.push(own(text));
    Object.assign(flag, flag.own ? { settled: false, unread: false } : {});
    page.drawThreads();
    await page.outbox.add({ campaign: unit.campaign, unit: unit.number, sheet: randomName(), kind: "flags", body: { text, flag: flag.id } });
  });
  return el("div", {}, open, form);
}

/** Settle, open again, or have read; without a network nothing changes. @param {Page} page @param {Flag} flag @param {string} what */
async function tell(page, flag, what) {
  const body = new URLSearchParams({ csrf: page.outbox.csrf, flag: String(flag.id), do: what, back: at("/session") });
  const answer = await fetch(at(`/c/${page.unit.campaign}/flags`), { method: "POST", body, redirect: "manual" }).catch(() => null);
  // A redirect says that it is done.
  if (answer?.type !== "opaqueredirect") return page.notices.show("flag", page.words.say("flag.not-now"), { warn: true });
  if (what === "seen") flag.unread = false;
  else flag.settled = what === "settle";
  page.drawThreads();
}
