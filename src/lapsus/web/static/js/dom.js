/** Making elements. Whatever is said in them is text: there is no way here to make markup from a string. */

/**
 * An element with attributes and children. `class`, `text`, `on` and `data` are what they say; true sets an empty
 * attribute, false and null none.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, any>} [props]
 * @param {...(Node|string|null|undefined)} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function el(tag, props = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === false || value === null || value === undefined) continue;
    if (name === "text") made.textContent = value;
    else if (name === "on") for (const [kind, run] of Object.entries(value)) made.addEventListener(kind, run);
    else if (name === "data") Object.assign(made.dataset, value);
    else made.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children) if (child) made.append(child);
  return made;
}

/** A name as text that may be broken after `_`, never within a word. @param {string} name @returns {(string|Node)[]} */
export function breakable(name) {
  return name.split(/(?<=_)/).flatMap((part, place) => (place ? [el("wbr"), part] : [part]));
}

/** A key as it is shown on a control. @param {string} name */
export function kbd(name) {
  return el("kbd", { "aria-hidden": "true", text: name });
}

/** @param {string} id @returns {any} */
export function byId(id) {
  return document.getElementById(id);
}

/** What a script block holds. @param {string} id */
export function readJson(id) {
  return JSON.parse(byId(id).textContent);
}

/** An id for elements that name each other. */
let made = 0;
export function newId() {
  made += 1;
  return `e${made}`;
}

/**
 * Text with paragraphs and "- " lists, as guidelines have it.
 * @param {string} text
 */
export function paragraphs(text) {
  const whole = document.createDocumentFragment();
  for (const block of text.split(/\n\s*\n/)) {
    const lines = block.split("\n").filter((line) => line.trim());
    const items = lines.filter((line) => line.trimStart().startsWith("- "));
    const words = lines.filter((line) => !line.trimStart().startsWith("- "));
    if (words.length) whole.append(el("p", { text: words.join(" ") }));
    if (items.length) whole.append(el("ul", {}, ...items.map((line) => el("li", { text: line.trim().slice(2) }))));
  }
  return whole;
}

/** A random name that nobody else makes; also where pages are served without TLS. */
export function randomName() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
