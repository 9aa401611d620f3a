/**
 * Changing a list of marks: pure, so that undo is only to take the list before.
 * @typedef {import("../types.js").Mark} Mark
 */

/** @param {Mark} a @param {Mark} b */
export function isSamePlace(a, b) {
  return a.segment === b.segment && a.start === b.start && a.end === b.end && a.label === b.label;
}

/** Add marks; where all are there already, take them away. @param {Mark[]} marks @param {Mark[]} more @returns {Mark[]} */
export function toggled(marks, more) {
  const has = (/** @type {Mark} */ mark) => marks.some((one) => isSamePlace(one, mark));
  if (more.every(has)) return without(marks, marks.filter((one) => more.some((mark) => isSamePlace(one, mark))));
  return [...marks, ...more.filter((mark) => !has(mark))];
}

/** Take marks away; a tie that holds nothing together any more goes too. @param {Mark[]} marks @param {Mark[]} gone @returns {Mark[]} */
export function without(marks, gone) {
  return looseEndsCut(marks.filter((mark) => !gone.includes(mark)));
}

/** Tie two marks, and whatever either is tied to. @param {Mark[]} marks @param {Mark} one @param {Mark} other @returns {Mark[]} */
export function tied(marks, one, other) {
  const tie = one.tie ?? other.tie ?? newTie(marks);
  const old = other.tie !== undefined && one.tie !== undefined ? other.tie : null;
  return marks.map((mark) => (mark === one || mark === other || (old !== null && mark.tie === old) ? { ...mark, tie } : mark));
}

/** @param {Mark[]} marks @param {Mark} one @returns {Mark[]} */
export function untied(marks, one) {
  return looseEndsCut(marks.map((mark) => (mark === one ? plain(mark) : mark)));
}

/** Whether two labels may be tied. @param {[string, string][]} ties @param {Mark} one @param {Mark} other */
export function mayTie(ties, one, other) {
  return one !== other && ties.some((pair) => pair.includes(one.label) && pair.includes(other.label) && one.label !== other.label);
}

/** @param {Mark[]} marks */
function newTie(marks) {
  const used = new Set(marks.map((mark) => mark.tie));
  let number = 1;
  while (used.has(String(number))) number += 1;
  return String(number);
}

/** @param {Mark[]} marks */
function looseEndsCut(marks) {
  const count = (/** @type {string|undefined} */ tie) => marks.filter((mark) => mark.tie === tie).length;
  return marks.map((mark) => (mark.tie !== undefined && count(mark.tie) < 2 ? plain(mark) : mark));
}

/** @param {Mark} mark @returns {Mark} */
function plain({ tie: _, ...mark }) {
  return mark;
}
