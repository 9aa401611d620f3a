/**
 * The document, as the server's page draws it too: turns as a conversation, triples in cells. Texts come from
 * strangers and are only ever set as text.
 * @typedef {import("./types.js").Unit} Unit
 * @typedef {import("./types.js").Segment} Segment
 * @typedef {import("./types.js").Scheme} Scheme
 * @typedef {import("./words.js").Words} Words
 */
import { at } from "./addresses.js";
import { breakable, byId, el } from "./dom.js";
import { formatted } from "./formatted_text.js";
import { labelsOf, sign } from "./scheme.js";

/** Roles of what stood behind the talk. It is folded, since a tool may return pages. */
const BEHIND = new Set(["prompt", "passage", "tool"]);

/**
 * @param {Unit} unit
 * @param {import("./types.js").Scheme} scheme
 * @param {import("./words.js").Words} words
 * @param {(number: number) => void} go
 */
export function drawDocument(unit, scheme, words, go) {
  const segments = unit.target ? [...unit.context, unit.target] : unit.context;
  const triples = segments.filter((segment) => segment.role === "triple");
  const turns = segments.filter((segment) => segment.role !== "triple");
  const place = byId("document");
  const known = new Set(Array.from(place.querySelectorAll("[data-segment]"), (one) => one.dataset.segment));
  const drawn = [];
  if (triples.length) drawn.push(el("ol", { class: "triples" }, ...triples.map((triple) => drawTriple(triple, unit))));
  if (turns.length) {
    const talk = turns.map((turn) => drawTurn(turn, unit, scheme, words, go));
    // What was not there a moment ago comes softly.
    if (place.dataset.document === unit.document) {
      talk.filter((turn) => !known.has(turn.dataset.segment)).forEach((turn) => turn.classList.add("fade"));
    }
    drawn.push(el("ol", { class: "talk" }, ...talk));
  }
  if (unit.votes) {
    const votes = Object.entries(unit.votes).map(([label, count]) => `${unit.vote_names?.[label] ?? label} ${count}`);
    drawn.push(el("p", { class: "votes number", text: `${words.say("votes")}: ${votes.join(" · ")}` }));
  }
  place.dataset.document = unit.document;
  place.replaceChildren(...drawn);
}

/** @param {Segment} triple @param {Unit} unit */
function drawTriple(triple, unit) {
  const cells = /** @type {string[]} */ (triple.parts).map((part) => el("span", { class: "cell" }, ...breakable(part)));
  return el("li", { class: "triple", lang: unit.language, data: { segment: triple.id } }, ...cells);
}

/** @param {Segment} turn @param {Unit} unit @param {Scheme} scheme @param {Words} words @param {(number: number) => void} go */
function drawTurn(turn, unit, scheme, words, go) {
  const isTarget = unit.target?.id === turn.id;
  const role = words.common(`roles.${turn.role}`) + (isTarget ? words.say("this-one") : "");
  const who = el(
    "span",
    { class: "who" },
    el("span", { "aria-hidden": "true", text: words.say(`short.${turn.role}`) }),
    el("span", { class: "visually-hidden", text: role }),
  );
  const said = BEHIND.has(turn.role)
    ? el("details", { class: "said", lang: unit.language }, el("summary", { text: turn.text.slice(0, 60) }), formatted(turn))
    : el("p", { class: "said", lang: unit.language }, formatted(turn));
  const classes = `turn ${turn.role}${isTarget ? " target" : ""}`;
  return el("li", { class: classes, data: { segment: turn.id } }, who, said, drawMark(turn, unit, scheme, words, go));
}

/** One's own answer about a turn: a small sign, and the way back to it.
 * @param {Segment} turn @param {Unit} unit @param {Scheme} scheme @param {Words} words @param {(number: number) => void} go */
function drawMark(turn, unit, scheme, words, go) {
  if (turn.mark === undefined) return null;
  const offering = scheme.questions.filter((question) => labelsOf(scheme, question).length);
  const question = offering.find((one) => one.id === turn.asked) ?? offering[0];
  const labels = new Map(labelsOf(scheme, question).map((label) => [label.id, label]));
  // Among several questions an answer alone would not tell what it answers.
  const asked = offering.length > 1 ? words.of(question.name) : "";
  const ids = Array.isArray(turn.mark) ? turn.mark : [turn.mark];
  const short = ids.map((id) => sign(labels.get(id)) ?? labels.get(id)?.number ?? words.of(labels.get(id)?.name) ?? id).join(" ");
  const names = words.join(ids.map((id) => words.of(labels.get(id)?.name) ?? id)) || words.say("none-fits");
  const long = words.say("judged", { label: asked ? `${asked}: ${names}` : names });
  const href = at(`/c/${unit.campaign}/u/${turn.unit}`);
  const mark = el("a", { class: "mark", href, title: long, "aria-label": long },
    asked && el("span", { class: "asked", text: asked }), asked && " ", short || names);
  mark.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    if (turn.unit !== undefined) go(turn.unit);
  });
  return mark;
}
