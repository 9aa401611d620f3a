/**
 * The rules of a guideline, checked here as they are on the server, with the same words.
 *
 * @typedef {import("./types.js").Scheme} Scheme
 * @typedef {import("./types.js").Question} Question
 * @typedef {import("./types.js").Label} Label
 * @typedef {import("./types.js").Mark} Mark
 * @typedef {import("./types.js").Segment} Segment
 * @typedef {import("./types.js").Broken} Broken
 * @typedef {{segments: Segment[], language: string|null, tokens: Record<string, [number, number][]>}} Seen
 */
import { isRequired, labelName, labelsOf } from "./scheme.js";

const SPACELESS = new Set(["ja", "zh", "th", "lo", "km", "my"]);
const PART_OF_WORD = /[\p{L}\p{M}\p{N}\p{S}_\u200d]/u;

/**
 * Every rule that answers break.
 * @param {Scheme} scheme
 * @param {Record<string, any>} answers
 * @param {Seen} seen
 * @param {import("./words.js").Words} words
 * @returns {Broken[]}
 */
export function brokenRules(scheme, answers, seen, words) {
  /** @type {Broken[]} */
  const found = [];
  const known = new Set(scheme.questions.map((question) => question.id));
  for (const id of Object.keys(answers)) {
    if (!known.has(id)) found.push(broken(words, "unknown-question", id, { question: id }));
  }
  for (const question of scheme.questions) {
    const answer = answers[question.id];
    const isAnswered = answer !== undefined && answer !== null;
    if (!isAsked(scheme, question, answers)) {
      if (isAnswered) found.push(broken(words, "not-asked", question.id, { question: words.of(question.name) }));
    } else if (isAnswered) found.push(...new Judge(scheme, question, seen, words).broken(answer));
    else if (isRequired(question)) {
      found.push(broken(words, "missing-answer", question.id, { question: words.of(question.name) }));
    }
  }
  return found;
}

/** Whether a question is asked of whoever gave these answers. @param {Scheme} scheme @param {Question} question @param {Record<string, any>} answers */
export function isAsked(scheme, question, answers) {
  const rule = question.only_if;
  const answer = rule && answers[rule.question];
  if (!rule || !scheme.questions.some((one) => one.id === rule.question)) return true;
  if (answer === undefined || answer === null) return false;
  return [answer].flat().some((one) => rule.answers.includes(typeof one === "string" ? one.split("|")[0] : (one.label ?? one)));
}

/** The answers without those to questions that are not asked. @param {Scheme} scheme @param {Record<string, any>} answers @returns {Record<string, any>} */
export function askedAnswers(scheme, answers) {
  const kept = { ...answers };
  for (const question of scheme.questions) if (!isAsked(scheme, question, kept)) delete kept[question.id];
  return kept;
}

/** Show each question with its answer where it is asked, and no other. @param {Scheme} scheme @param {import("./types.js").Widget[]} parts @param {Record<string, any>} answers */
export function showParts(scheme, parts, answers) {
  for (const part of parts) {
    part.show(answers[part.question.id]);
    part.element.hidden = !isAsked(scheme, part.question, answers);
  }
}

/** What a unit shows, as the rules look at it. @param {import("./types.js").Unit} unit @returns {Seen} */
export function seenOf(unit) {
  const segments = unit.target ? [...unit.context, unit.target] : unit.context;
  return { segments, language: unit.language, tokens: unit.tokens };
}

/** @param {import("./words.js").Words} words @param {string} rule @param {string} question @param {Record<string, any>} values @returns {Broken} */
function broken(words, rule, question, values) {
  return { rule, question, message: words.rule(rule, values) };
}

/** The kinds of questions whose rules are checked in the browser, too. */
const CHECKED = ["label", "labels", "scale", "spans", "text", "preference"];

/** Judges the answer to one question. */
export class Judge {
  /** @param {Scheme} scheme @param {Question} question @param {Seen} seen @param {import("./words.js").Words} words */
  constructor(scheme, question, seen, words) {
    this.question = question;
    this.seen = seen;
    this.words = words;
    this.labels = new Map(labelsOf(scheme, question).map((label) => [label.id, label]));
  }

  /** @param {any} answer @returns {Broken[]} */
  broken(answer) {
    const { kind } = this.question;
    if (kind === "label" && typeof answer === "string") return this.known([answer]);
    if (kind === "preference" && typeof answer === "string") return this.known([answer.split("|")[0]]);
    if (kind === "labels" && isListOf(answer, "string")) return this.labelSet(answer);
    if (kind === "scale" && Number.isInteger(answer)) return this.level(answer);
    if (kind === "spans" && isListOf(answer, "object")) return this.spans(answer);
    if (kind === "text" && typeof answer === "string") return [];
    // Of kinds that are not checked here the server alone knows the rules.
    if (!CHECKED.includes(kind)) return [];
    return [this.rule("wrong-kind", { expected: this.words.catalogue.kinds[kind] })];
  }

  /** @param {string} rule @param {Record<string, any>} [values] */
  rule(rule, values = {}) {
    return broken(this.words, rule, this.question.id, { question: this.words.of(this.question.name), ...values });
  }

  /** @param {string} id */
  name(id) {
    return labelName(this.words, this.labels.get(id), id);
  }

  /** @param {string[]} ids */
  known(ids) {
    return ids.filter((id) => !this.labels.has(id)).map((label) => this.rule("unknown-label", { label }));
  }

  /** @param {string[]} answer */
  labelSet(answer) {
    const chosen = [...new Set(answer)];
    const found = this.known(chosen);
    for (const id of chosen) {
      if (answer.filter((other) => other === id).length > 1) found.push(this.rule("repeated-label", { label: this.name(id) }));
    }
    return [...found, ...this.howMany(chosen.length), ...this.together(chosen)];
  }

  /** Labels that do not go together. @param {string[]} chosen */
  together(chosen) {
    const found = [];
    for (const id of chosen) {
      if (chosen.length > 1 && (this.question.alone ?? []).includes(id)) {
        const others = this.words.join(chosen.filter((other) => other !== id).map((other) => this.name(other)));
        found.push(this.rule("alone", { label: this.name(id), others }));
      }
    }
    for (const [first, second] of this.question.apart ?? []) {
      if (chosen.includes(first) && chosen.includes(second)) {
        found.push(this.rule("apart", { label: this.name(first), other: this.name(second) }));
      }
    }
    return found;
  }

  /** @param {number} count */
  howMany(count) {
    const { at_least: least = 0, at_most: most } = this.question;
    const found = [];
    if (count < least) found.push(this.rule("too-few", { limit: least }));
    if (most !== undefined && most !== null && count > most) found.push(this.rule("too-many", { limit: most }));
    return found;
  }

  /** @param {number} value */
  level(value) {
    const values = (this.question.levels ?? []).map((level) => level.value);
    if (values.includes(value)) return [];
    return [this.rule("off-scale", { least: values[0], most: values.at(-1), value })];
  }

  /** @param {Mark[]} marks */
  spans(marks) {
    const found = this.known([...new Set(marks.map((mark) => mark.label))]);
    found.push(...this.howMany(marks.length));
    const places = new Map();
    for (const mark of marks) {
      const place = JSON.stringify([mark.segment, mark.start, mark.end, mark.label]);
      places.set(place, [...(places.get(place) ?? []), mark]);
    }
    for (const same of places.values()) {
      if (same.length > 1) {
        found.push(this.rule("repeated-span", { quote: this.quote(same[0]), label: this.name(same[0].label) }));
      }
    }
    return [...found, ...this.ties(marks), ...marks.flatMap((mark) => this.place(mark))];
  }

  /** Marks with the same tie: at least two; different labels only where the guideline lets them be tied. @param {Mark[]} marks */
  ties(marks) {
    /** @type {Map<string, string[]>} */
    const groups = new Map();
    for (const mark of marks) {
      if (typeof mark.tie === "string") groups.set(mark.tie, [...(groups.get(mark.tie) ?? []), mark.label]);
    }
    const allowed = this.question.ties ?? [];
    const names = this.words.join(allowed.map(([a, b]) => `${this.name(a)} + ${this.name(b)}`));
    return [...groups.values()]
      .filter((labels) => labels.length < 2 || !mayBeTied(labels, allowed))
      .map(() => this.rule("tie", { allowed: names }));
  }

  /** Where a mark stands. @param {Mark} mark @returns {Broken[]} */
  place(mark) {
    const segment = this.seen.segments.find((one) => one.id === mark.segment);
    if (!segment) return [this.rule("unknown-segment", { segment: mark.segment })];
    if (mark.end > Array.from(segment.text).length) return [this.rule("outside", { start: mark.start, end: mark.end })];
    const label = this.labels.get(mark.label);
    if (!label) return [];
    const { roles } = this.words.catalogue;
    if (label.on && segment.role !== label.on) {
      const values = { label: this.name(mark.label), found: roles[segment.role], expected: roles[label.on] };
      return [this.rule("wrong-segment", values)];
    }
    if (label.covers === "element" && !coversElements(mark, segment)) return [this.rule("cuts-element", { quote: this.quote(mark) })];
    if (label.covers === "token" && this.cutsToken(mark, segment)) return [this.rule("cuts-token", { quote: this.quote(mark) })];
    return [];
  }

  /** Whether a mark ends inside a word; signs at a word's edge may be left out. @param {Mark} mark @param {Segment} segment */
  cutsToken(mark, segment) {
    if (SPACELESS.has((this.seen.language ?? "").split("-")[0])) {
      const edges = clusterEdges(segment.text);
      return !edges.has(mark.start) || !edges.has(mark.end);
    }
    const points = Array.from(segment.text);
    const words = segment.parts ? runs(points) : (this.seen.tokens[segment.id] ?? []);
    const cuts = (/** @type {number} */ from, /** @type {number} */ to) => PART_OF_WORD.test(points.slice(from, to).join(""));
    return words.some(
      ([start, end]) =>
        (start < mark.start && mark.start < end && cuts(start, mark.start)) ||
        (start < mark.end && mark.end < end && cuts(mark.end, end)),
    );
  }

  /** @param {Mark} mark */
  quote(mark) {
    const segment = this.seen.segments.find((one) => one.id === mark.segment);
    return segment ? Array.from(segment.text).slice(mark.start, mark.end).join("") : `${mark.start}-${mark.end}`;
  }
}

/** Labels that a choice rules out, each with why. @param {Judge} judge @param {string[]} chosen @returns {Map<string, Broken>} */
export function ruledOut(judge, chosen) {
  const found = new Map();
  for (const id of judge.labels.keys()) {
    const why = chosen.includes(id) ? undefined : judge.together([...chosen, id])[0];
    if (why) found.set(id, why);
  }
  return found;
}

/** Where a triple's elements stand. @param {Segment} segment @returns {[number, number][]} */
export function elementsOf(segment) {
  let start = 0;
  return (segment.parts ?? []).map((part) => {
    const length = Array.from(part).length;
    /** @type {[number, number]} */
    const place = [start, start + length];
    start += length + 3;
    return place;
  });
}

/** @param {Mark} mark @param {Segment} segment */
function coversElements(mark, segment) {
  const elements = elementsOf(segment);
  return elements.some(([start]) => start === mark.start) && elements.some(([, end]) => end === mark.end);
}

/** @param {string[]} labels @param {[string, string][]} allowed */
function mayBeTied(labels, allowed) {
  const different = [...new Set(labels)];
  return different.every((a, place) =>
    different.slice(place + 1).every((b) => allowed.some((pair) => pair.includes(a) && pair.includes(b))),
  );
}

/** @param {any} answer @param {string} kind */
function isListOf(answer, kind) {
  return Array.isArray(answer) && answer.every((item) => item !== null && typeof item === kind);
}

/** Runs without spaces, in code points. @param {string[]} points @returns {[number, number][]} */
function runs(points) {
  /** @type {[number, number][]} */
  const found = [];
  points.forEach((point, place) => {
    if (/\s/u.test(point)) return;
    const last = found.at(-1);
    if (last && last[1] === place) last[1] = place + 1;
    else found.push([place, place + 1]);
  });
  return found;
}

/** Where visible characters end, in code points. @param {string} text */
function clusterEdges(text) {
  const edges = new Set([0]);
  let place = 0;
  for (const { segment } of new Intl.Segmenter("ja", { granularity: "grapheme" }).segment(text)) {
    place += Array.from(segment).length;
    edges.add(place);
  }
  return edges;
}
