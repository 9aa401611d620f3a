/** Reading a guideline. @typedef {import("./types.js").Scheme} Scheme @typedef {import("./types.js").Question} Question
 * @typedef {import("./types.js").Label} Label */

/** The labels that a question offers: its own, or those of a list. @param {Scheme} scheme @param {Question} question @returns {Label[]} */
export function labelsOf(scheme, question) {
  if (!question.labels_from) return question.labels ?? [];
  const list = listOf(scheme, question.labels_from);
  return list ? list.groups.flatMap((group) => /** @type {Label[]} */ (/** @type {unknown} */ (group.items))) : [];
}

/** @param {Scheme} scheme @param {string|undefined} id */
export function listOf(scheme, id) {
  return (scheme.lists ?? []).find((list) => list.id === id);
}

/** @param {Question} question */
export function isRequired(question) {
  return question.required !== false;
}

/** A label's name with its number where it has one. @param {import("./words.js").Words} words @param {Label|undefined} label @param {string} id */
export function labelName(words, label, id) {
  if (!label) return id;
  const name = words.of(label.name);
  return label.number === undefined ? name : `${label.number} ${name}`;
}

/** A sign that stands for a label: one of its other names, where that is a single sign and no letter. @param {Label|undefined} label */
export function sign(label) {
  return (label?.aliases ?? []).find((alias) => Array.from(alias).length === 1 && !/[\p{L}\p{N}]/u.test(alias)) ?? null;
}

/** The keys that choose a label: the one that the guideline gives, and its name where that is one letter. @param {Label} label */
export function keysOf(label) {
  const keys = label.key ? [label.key.toLowerCase()] : [];
  if (/^[A-Za-z]$/.test(label.id) && !keys.includes(label.id.toLowerCase())) keys.push(label.id.toLowerCase());
  return keys;
}

/** The keys of a label that are no digits. @param {Label} label */
export function lettersOf(label) {
  return keysOf(label).filter((key) => !/^[0-9]$/.test(key));
}

/** The numbers that choose labels: those that the guideline gives, else their places, as far as these are free.
 * @param {Label[]} labels @returns {(number|undefined)[]} */
export function numbersOf(labels) {
  const given = labels.map((label) => label.number ?? (/^[0-9]$/.test(label.key ?? "") ? Number(label.key) : undefined));
  return given.map((number, place) => number ?? (given.includes(place + 1) ? undefined : place + 1));
}

/** Whether one touch answers all that has to be answered. @param {Scheme} scheme */
export function isOneTouch(scheme) {
  if (scheme.questions.some((question) => question.only_if)) return false;
  const needed = scheme.questions.filter(isRequired);
  const rest = scheme.questions.filter((question) => !isRequired(question));
  return needed.length === 1 && needed[0].kind === "label" && rest.every((question) => question.kind === "text");
}
