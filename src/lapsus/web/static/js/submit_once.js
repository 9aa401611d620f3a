/** Some forms take a while to be worked on: whoever clicks twice meanwhile sends them once. */

/** So long a form rests that was sent: somebody may have stopped it and try again. */
const REST = 10_000;
/** @type {WeakMap<EventTarget, number>} */
const sent = new WeakMap();

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!(form instanceof HTMLFormElement) || !("once" in form.dataset) || event.defaultPrevented) return;
  if (Date.now() - (sent.get(form) ?? -REST) < REST) event.preventDefault();
  else sent.set(form, Date.now());
});
// Whoever comes back to a page as it was left may send it anew.
addEventListener("pageshow", () => document.querySelectorAll("form").forEach((form) => sent.delete(form)));
