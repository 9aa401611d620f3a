/** The guideline's questions to whoever talks: about a turn right after it, or about the whole talk. */
import { at } from "./addresses.js";
import { el } from "./dom.js";
import { askedAnswers, isAsked, showParts } from "./rules.js";
import { isRequired } from "./scheme.js";
import { loadWidgets } from "./widgets/registry.js";
import { fetchWords } from "./words.js";

/** Milliseconds after the last change before an answer is sent. */
const PAUSE = 400;

/**
 * @param {any} talk
 * @param {string} wordsUrl
 * @param {Record<string, string>} said words of the talk's page
 * @param {(segment: string, answers: any) => void} send
 * @returns {Promise<(turn: any) => HTMLElement>} makes the questions about a turn
 */
export async function ownQuestions(talk, wordsUrl, said, send) {
  const fetched = fetch(at(talk.scheme)).then((answer) => answer.json());
  const [words, scheme, makeWidget] = await Promise.all([fetchWords(wordsUrl), fetched, fetched.then(loadWidgets)]);
  words.guideline = talk.language;
  const compulsory = scheme.questions.filter(isRequired);

  return (turn) => {
    const segment = String(turn.position);
    /** @type {Record<string, any>} */
    let now = { ...(talk.answers?.[segment] ?? {}) };
    /** @type {ReturnType<typeof setTimeout>|undefined} */
    let timer;
    const status = el("span", { class: "quiet small", role: "status", text: Object.keys(now).length ? said.kept : "" });
    const isWhole = () => compulsory.every((/** @type {import("./types.js").Question} */ one) => now[one.id] !== undefined || !isAsked(scheme, one, now));
    const keep = () => {
      if (!isWhole()) return;
      send(segment, now);
      status.textContent = said.kept;
      // Room for the talk; it can be opened again to change one's mind.
      whole.open = compulsory.length > 1;
    };
    const sheet = {
      words,
      scheme,
      unit: turn,
      oneTouch: false,
      isClosed: false,
      current: undefined,
      guide: { on() {}, explain() {} },
      attend() {},
      chosen() {},
      advance() {},
      submit: keep,
      /** @param {string} question @param {any} answer */
      set(question, answer) {
        const { [question]: _, ...others } = now;
        now = askedAnswers(scheme, answer === undefined ? others : { ...others, [question]: answer });
        showParts(scheme, parts, now);
        clearTimeout(timer);
        timer = setTimeout(keep, PAUSE);
      },
    };
    /** @type {import("./types.js").Widget[]} */
    const parts = scheme.questions.map((/** @type {any} */ question) => makeWidget(question, /** @type {any} */ (sheet)));
    showParts(scheme, parts, now);
    // The same question stands under every turn: no landmark of the page.
    for (const part of parts) part.element.setAttribute("role", "group");
    const whole = el("details", { class: "own", open: !Object.keys(now).length }, el("summary", { class: "small" }, said.judge, " ", status), ...parts.map((part) => part.element));
    return whole;
  };
}
