/** Keyboard shortcuts of a page, the window that lists them, and dialogs. @typedef {import("./types.js").Binding} Binding */
import { el, kbd } from "./dom.js";

/** Fields in which one types, so that keys are letters there. */
const TEXT = "textarea, select, input:not([type]), input[type=text], input[type=search], input[type=number], [inputmode]";

/** What a key is called here: small letters, "Shift+o", "Ctrl+z". @param {KeyboardEvent} event */
export function keyName(event) {
  const name = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const shift = event.shiftKey && /^[a-z]$|^.{2,}$/.test(name) ? "Shift+" : "";
  return `${event.ctrlKey || event.metaKey ? "Ctrl+" : ""}${shift}${name}`;
}

/** Whether keys go into a field. @param {EventTarget|null} target */
export function isTyping(target) {
  return target instanceof Element && target.matches(TEXT);
}

export class Keys {
  /** @param {import("./words.js").Words} words */
  constructor(words) {
    this.words = words;
    /** @type {Map<string, Binding[]>} groups, the first of which has a key before the others */
    this.groups = new Map();
    /** Asked before all bindings: whether it has dealt with the key. @type {(name: string, event: KeyboardEvent) => boolean} */
    this.first = () => false;
    /** Told of a key that is held down and does nothing more. */
    this.held = () => {};
    document.addEventListener("keydown", (event) => this.handle(event));
  }

  /** Set the bindings of a group, in place of those it had. @param {string} group @param {Binding[]} bindings */
  use(group, bindings) {
    this.groups.set(group, bindings);
  }

  /** The keys of a binding that no earlier group has taken. @param {Binding} wanted */
  free(wanted) {
    const taken = new Set();
    for (const bindings of this.groups.values()) {
      for (const binding of bindings) {
        if (binding === wanted) return wanted.keys.filter((key) => !taken.has(key));
      }
      for (const binding of bindings) binding.keys.forEach((key) => taken.add(key));
    }
    return wanted.keys;
  }

  /** Run the first binding for a key, unless one is typing, a dialog is open or a control takes the key itself. @param {KeyboardEvent} event */
  handle(event) {
    if (event.defaultPrevented || event.isComposing || event.altKey || document.querySelector("dialog[open]")) return;
    const name = keyName(event);
    if (isTyping(event.target) && !["Escape", "Ctrl+Enter"].includes(name)) return;
    if (["Enter", " "].includes(name) && pressesItself(event.target, name)) return;
    if (event.repeat && !this.mayRepeat(name)) {
      event.preventDefault();
      return;
    }
    if (this.first(name, event)) {
      event.preventDefault();
      return;
    }
    for (const bindings of this.groups.values()) {
      const found = bindings.find((binding) => binding.keys.includes(name));
      if (found) {
        event.preventDefault();
        found.run();
        return;
      }
    }
  }

  /** A key that is held down goes on only where nothing is answered by it. @param {string} name */
  mayRepeat(name) {
    const found = [...this.groups.values()].flat().find((binding) => binding.keys.includes(name));
    if (found?.repeats || (!found && !/^[0-9]$/.test(name))) return true;
    this.held();
    return false;
  }

  /** All keys of this page, in a window of their own. */
  show() {
    const table = el("div", { class: "keys-table" });
    for (const [group, bindings] of this.groups) {
      const shown = bindings.filter((binding) => !binding.quiet && this.free(binding).length);
      if (!shown.length) continue;
      table.append(el("h3", { text: this.words.say(`keys.groups.${group}`) }));
      const list = el("dl", { class: "keys-list" });
      for (const binding of shown) {
        const names = this.free(binding).map((key) => kbd(pretty(key)));
        list.append(el("dt", {}, ...names), el("dd", { text: binding.label }));
      }
      table.append(list);
    }
    openDialog(this.words, this.words.say("keys.title"), table);
  }
}

/** Whether a control is pressed by the key anyway. What is chosen with the space bar leaves Enter to the page.
 * @param {EventTarget|null} target @param {string} name */
function pressesItself(target, name) {
  if (!(target instanceof Element)) return false;
  if (target.matches("[role=radio], [role=checkbox]")) return name === " ";
  return target.matches("button, a[href], summary, input, [role=option]");
}

/** How a key is written. @param {string} key */
export function pretty(key) {
  /** @type {Record<string, string>} */
  const names = { ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓", Escape: "Esc", " ": "␣", Enter: "↵",
    Delete: "⌫", Backspace: "⌫" };
  return key.replace("Shift+", "⇧").replace(/[^+⇧]+$/, (name) => names[name] ?? name);
}

/**
 * A window over the page; Escape closes it and focus goes back.
 * @param {import("./words.js").Words} words
 * @param {string} title
 * @param {...Node} content
 * @returns {HTMLDialogElement}
 */
export function openDialog(words, title, ...content) {
  const dialog = makeDialog(words, title, ...content);
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/**
 * A form that stands in the page, so that it covers nothing however small the window is. Where one answers rests
 * meanwhile: a touch there would take the unit away, and what was written with it.
 * @param {HTMLElement} place where it comes last
 * @param {HTMLElement} resting
 * @param {import("./words.js").Words} words
 * @param {string} title
 * @param {...Node} content
 * @returns {HTMLDialogElement}
 */
export function openBelow(place, resting, words, title, ...content) {
  const dialog = makeDialog(words, title, ...content);
  const before = document.activeElement;
  dialog.addEventListener("keydown", (event) => event.key === "Escape" && !event.isComposing && dialog.close());
  dialog.addEventListener("close", () => {
    resting.inert = false;
    if (document.activeElement === document.body && before instanceof HTMLElement) before.focus({ preventScroll: true });
  });
  resting.inert = true;
  place.append(dialog);
  dialog.show();
  dialog.scrollIntoView({ block: "nearest" });
  return dialog;
}

/** @param {import("./words.js").Words} words @param {string} title @param {...Node} content @returns {HTMLDialogElement} */
function makeDialog(words, title, ...content) {
  const close = el("button", { type: "button", class: "plain", text: words.common("close") });
  const heading = el("h2", { text: title, id: "dialog-title" });
  const dialog = el("dialog", { "aria-labelledby": "dialog-title" }, el("header", {}, heading, close), ...content);
  close.addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => dialog.remove());
  // A key that closes the window is not meant for the page below it.
  dialog.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => event.stopPropagation());
  return dialog;
}
