/** Which column holds what: each choice shows at once what becomes of the file. The button is for those without scripts. */
import { byId } from "./dom.js";

const form = /** @type {HTMLFormElement} */ (byId("columns-form"));
byId("look").hidden = true;
let newest = 0;

form.addEventListener("change", async (event) => {
  const chosen = /** @type {HTMLSelectElement} */ (event.target);
  const mine = ++newest;
  const said = new FormData(form);
  said.set("go", "look");
  try {
    const answer = await fetch(location.pathname, { method: "POST", body: new URLSearchParams(/** @type {any} */ (said)) });
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    const newer = fresh.querySelector(".columns-page");
    if (mine !== newest || !newer) return;
    show(fresh, chosen);
  } catch { /* no network just now: the next button sends it all */ }
});

/** What the server made of it; the fields that somebody works with stay, and so does the focus.
 * @param {Document} fresh @param {HTMLSelectElement} chosen */
function show(fresh, chosen) {
  const parts = chosen.name.startsWith("column-") ? ["speakers", "understood"] : ["understood"];
  for (const id of parts) {
    const newer = fresh.getElementById(id);
    if (newer) byId(id).replaceChildren(...newer.childNodes);
  }
  byId("no-system").hidden = /** @type {HTMLElement} */ (fresh.getElementById("no-system")).hidden;
  document.getElementById("columns-error")?.remove();
  const told = fresh.getElementById("columns-error");
  if (told) form.before(told);
  form.querySelectorAll("select[name^=column-]").forEach((one, place) => {
    const used = /** @type {HTMLSelectElement} */ (one).value !== "";
    form.querySelectorAll(`.column-map tr > :nth-child(${place + 1})`).forEach((cell) => cell.classList.toggle("used", used));
  });
}
