/**
 * Answers are about what somebody has seen. Nothing is taken in the first moment after a unit has come into view, and a
 * key that is held down counts once; whatever is dropped is told in words.
 */

/** Milliseconds that a unit is in view before answers about it are taken. */
const SETTLING = 400;

export class AnswerGuard {
  /** @param {HTMLElement} main gets `data-answerable` while answers are taken @param {(why: "too-soon"|"held") => void} tell */
  constructor(main, tell) {
    this.main = main;
    this.tell = tell;
    /** @type {ReturnType<typeof setTimeout>|undefined} */
    this.timer = undefined;
    // Before any control has it: Enter presses a button again and again while it is held.
    document.addEventListener("keydown", (event) => this.dropHeldEnter(event), { capture: true });
  }

  /** A unit was drawn: the time runs from when it can be seen. */
  drawn() {
    clearTimeout(this.timer);
    delete this.main.dataset.answerable;
    requestAnimationFrame(() => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => (this.main.dataset.answerable = ""), SETTLING);
    });
  }

  /** Whether an answer comes too soon to be one; that is told. */
  refuses() {
    const isSoon = this.main.dataset.answerable === undefined;
    if (isSoon) this.tell("too-soon");
    return isSoon;
  }

  /** Let clicks through to what answers only when answers are taken. @param {HTMLElement} place @param {string} answering */
  watch(place, answering) {
    place.addEventListener("click", (event) => {
      const isAnswer = event.target instanceof Element && event.target.closest(answering);
      if (!isAnswer || !this.refuses()) return;
      event.preventDefault();
      event.stopPropagation();
    }, { capture: true });
  }

  /** @param {KeyboardEvent} event */
  dropHeldEnter(event) {
    if (!event.repeat || event.key !== "Enter" || (event.target instanceof HTMLTextAreaElement && !event.ctrlKey && !event.metaKey)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    this.tell("held");
  }
}
