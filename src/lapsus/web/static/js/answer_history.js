/** The answers about a unit, with undo and redo. @typedef {import("./types.js").Answers} Answers */

const TYPING = 1500;

export class History {
  /** @param {Answers} answers @param {(answers: Answers) => Answers} asked keeps of answers those whose questions are asked */
  constructor(answers, asked) {
    this.now = answers;
    this.asked = asked;
    /** @type {Answers[]} */
    this.past = [];
    /** @type {Answers[]} */
    this.future = [];
    /** @type {{question: string, at: number}|null} */
    this.typing = null;
  }

  /**
   * Change one answer; undefined takes it back. Letters typed in one go are one step.
   * @param {string} question
   * @param {any} answer
   * @param {{typing?: boolean}} [how]
   * @returns {boolean} whether anything changed
   */
  set(question, answer, { typing = false } = {}) {
    if (JSON.stringify(this.now[question]) === JSON.stringify(answer)) return false;
    const changed = { ...this.now };
    if (answer === undefined) delete changed[question];
    else changed[question] = answer;
    const next = this.asked(changed);
    const at = Date.now();
    const goesOn = typing && this.typing?.question === question && at - this.typing.at < TYPING;
    if (!goesOn) this.past.push(this.now);
    this.typing = typing ? { question, at } : null;
    this.now = next;
    this.future = [];
    return true;
  }

  /** Change several answers in one step. @param {Answers} answers @returns {boolean} whether anything changed */
  take(answers) {
    const next = this.asked({ ...this.now, ...answers });
    if (JSON.stringify(next) === JSON.stringify(this.now)) return false;
    this.past.push(this.now);
    this.typing = null;
    this.now = next;
    this.future = [];
    return true;
  }

  /** @returns {boolean} whether there was anything to take back */
  undo() {
    return this.step(this.past, this.future);
  }

  /** @returns {boolean} */
  redo() {
    return this.step(this.future, this.past);
  }

  /** @param {Answers[]} from @param {Answers[]} to */
  step(from, to) {
    const next = from.pop();
    if (!next) return false;
    to.push(this.now);
    this.now = next;
    this.typing = null;
    return true;
  }
}
