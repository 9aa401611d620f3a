/** The selection of tokens for a mark, by mouse, finger or keys: a run of tokens within one of several texts. */

export class Cursor {
  /** @param {import("./tokens.js").TokenText[]} texts @param {() => void} moved called after every change */
  constructor(texts, moved) {
    this.texts = texts;
    this.moved = moved;
    /** @type {import("./tokens.js").TokenText|null} */
    this.text = null;
    /** Where the selection began, and its end that moves: places of tokens in the text. */
    this.anchor = 0;
    this.head = 0;
    /** Whether a finger has tapped a first word. */
    this.isOpen = false;
    texts.forEach((text) => this.listen(text));
  }

  /** What is selected, both ends included; null: nothing. @returns {{text: import("./tokens.js").TokenText, from: number, to: number}|null} */
  get selection() {
    if (!this.text) return null;
    return { text: this.text, from: Math.min(this.anchor, this.head), to: Math.max(this.anchor, this.head) };
  }

  /** @param {import("./tokens.js").TokenText} text */
  listen(text) {
    text.box.addEventListener("keydown", (event) => this.key(text, event));
    text.box.addEventListener("focus", () => {
      if (this.text !== text && text.tokens.length) this.set(text, 0, 0);
    });
    text.box.addEventListener("pointerdown", (event) => this.press(text, event));
  }

  /** Begin a selection, or extend it with Shift, and follow the pointer until it is let go. @param {import("./tokens.js").TokenText} text @param {PointerEvent} event */
  press(text, event) {
    const token = text.tokenAt(event.target);
    if (token === null || event.button > 0) return;
    // A finger taps the first and the last word; a third tap begins anew.
    const isLast = event.pointerType === "touch" && this.isOpen && this.anchor === this.head;
    const goesOn = (event.shiftKey || isLast) && this.text === text;
    this.isOpen = event.pointerType === "touch" && !goesOn;
    this.set(text, goesOn ? this.anchor : token, token);
    text.box.focus({ preventScroll: true });
    if (event.pointerType === "mouse") event.preventDefault();
    const move = (/** @type {PointerEvent} */ to) => {
      const over = text.tokenAt(document.elementFromPoint(to.clientX, to.clientY));
      if (over !== null && over !== this.head) this.set(text, this.anchor, over);
    };
    const end = () => {
      removeEventListener("pointermove", move);
      removeEventListener("pointerup", end);
      removeEventListener("pointercancel", end);
    };
    addEventListener("pointermove", move);
    addEventListener("pointerup", end);
    addEventListener("pointercancel", end);
  }

  /** Move by arrows, Home and End; Shift extends, Escape ends. @param {import("./tokens.js").TokenText} text @param {KeyboardEvent} event */
  key(text, event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const last = text.tokens.length - 1;
    const at = this.text === text ? this.head : 0;
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: last }[event.key];
    if (to !== undefined) this.set(text, event.shiftKey ? this.anchor : clamp(to, last), clamp(to, last));
    else if (event.key === "ArrowDown") this.line(text, 1, event.shiftKey);
    else if (event.key === "ArrowUp") this.line(text, -1, event.shiftKey);
    else if (event.key === "Escape") this.clear();
    else return;
    event.preventDefault();
  }

  /** One line up (by -1) or down (by 1), and from one text into the next. @param {import("./tokens.js").TokenText} text @param {number} by @param {boolean} extend */
  line(text, by, extend) {
    const from = text.element(this.head).getBoundingClientRect();
    const middle = (from.left + from.right) / 2;
    const nearest = (/** @type {import("./tokens.js").TokenText} */ within, /** @type {(top: number) => boolean} */ fits) => {
      const places = within.tokens.map((_, token) => ({ token, box: within.element(token).getBoundingClientRect() }));
      const fitting = places.filter(({ box }) => fits(box.top));
      if (!fitting.length) return null;
      const lines = fitting.map(({ box }) => box.top);
      const top = by > 0 ? Math.min(...lines) : Math.max(...lines);
      const distance = (/** @type {{box: DOMRect}} */ { box }) => Math.abs((box.left + box.right) / 2 - middle);
      return fitting.filter(({ box }) => Math.abs(box.top - top) < 4).sort((a, b) => distance(a) - distance(b))[0].token;
    };
    const here = nearest(text, (top) => (by > 0 ? top > from.top + 4 : top < from.top - 4));
    if (here !== null) {
      this.set(text, extend ? this.anchor : here, here);
      return;
    }
    const other = this.texts[this.texts.indexOf(text) + by];
    if (!other || extend || !other.tokens.length) return;
    const there = nearest(other, () => true) ?? 0;
    this.set(other, there, there);
    other.box.focus();
  }

  /** @param {import("./tokens.js").TokenText} text @param {number} anchor @param {number} head */
  set(text, anchor, head) {
    this.text = text;
    this.anchor = anchor;
    this.head = head;
    this.show();
    text.element(head).scrollIntoView({ block: "nearest" });
  }

  clear() {
    this.text = null;
    this.show();
  }

  /** Draw the selection, and tell that it changed. */
  show() {
    const { selection } = this;
    for (const text of this.texts) {
      if (selection?.text === text) text.select(selection.from, selection.to, this.head);
      else text.select(null, null, null);
    }
    this.moved();
  }
}

/** @param {number} value @param {number} last */
function clamp(value, last) {
  return Math.max(0, Math.min(last, value));
}
