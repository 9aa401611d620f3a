/** The step of the guideline: whichever is chosen is shown on a unit at once. The button is for those without scripts. */
import { byId } from "./dom.js";

const form = /** @type {HTMLFormElement} */ (document.querySelector("form[data-once]"));
const look = /** @type {HTMLButtonElement|null} */ (form.querySelector("button[value=stay]"));
if (look) look.hidden = true;
let newest = 0;

form.addEventListener("change", async (event) => {
  const at = /** @type {HTMLInputElement} */ (event.target);
  if (at.name !== "scheme" && at.name !== "all_turns") return;
  const mine = ++newest;
  const said = new FormData(form);
  said.set("go", "stay");
  try {
    const answer = await fetch(location.pathname, { method: "POST", body: new URLSearchParams(/** @type {any} */ (said)) });
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (mine !== newest) return;
    for (const id of ["preview", "follows"]) {
      const newer = fresh.getElementById(id);
      // What somebody has just ticked keeps its focus.
      if (newer && !(id === "follows" && at.name === "all_turns")) byId(id).replaceChildren(...newer.childNodes);
    }
  } catch { /* no network just now: the next button sends it all */ }
});
