/** A guideline of one's own: what is wrong with it is said while one types. Nothing is kept before a button is pressed. */
import { byId, el } from "./dom.js";

const PAUSE = 400;
const script = /** @type {HTMLScriptElement|null} */ (document.querySelector("script[data-line]"));
const line = script?.dataset.line ?? "{line}";
let waiting = 0;
let newest = 0;

/** @param {{line: number, message: string, severe: boolean}[]} problems */
function tell(problems) {
  byId("sound").hidden = problems.some((one) => one.severe);
  byId("problem-list").replaceChildren(...problems.map((one) => {
    const where = el("span", { class: "number small", text: line.replace("{line}", String(one.line)) });
    return el("li", { class: one.severe ? "warn" : "quiet" }, where, ` ${one.message}`);
  }));
}

/** @param {HTMLFormElement} form */
async function check(form) {
  const mine = ++newest;
  const said = new FormData(form);
  said.set("go", "check");
  try {
    const answer = await fetch(`${location.pathname}.json`, { method: "POST", body: new URLSearchParams(/** @type {any} */ (said)) });
    const { problems } = await answer.json();
    if (mine === newest && problems) tell(problems);
  } catch { /* no network just now: the button will tell */ }
}

document.querySelectorAll("form[data-checked]").forEach((one) => {
  const form = /** @type {HTMLFormElement} */ (one);
  form.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => check(form), PAUSE);
  });
});
