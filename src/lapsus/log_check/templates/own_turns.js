/** Answers about turns: kept in this browser as they are given, and saved as a file that `lapsus check --adapt` takes. */
"use strict";
(() => {
  const form = /** @type {HTMLFormElement} */ (document.querySelector("form"));
  const count = /** @type {HTMLElement} */ (document.querySelector("[data-count]"));
  const save = /** @type {HTMLButtonElement} */ (document.querySelector("[data-save]"));
  const after = /** @type {HTMLElement} */ (document.querySelector("[data-after]"));
  /** @type {{header: string, records: {document: string, judgments: Record<string, string>}[]}} */
  const data = JSON.parse(document.getElementById("records")?.textContent ?? "");
  const place = `lapsus-own-turns-${form.dataset.name}`;

  /** What was answered, by turn. @returns {Record<string, string>} */
  const answers = () => Object.fromEntries(/** @type {Iterable<[string, string]>} */ (new FormData(form).entries()));

  function show() {
    const many = Object.keys(answers()).length;
    count.textContent = (count.dataset.count ?? "").replace("{done}", String(many));
    save.disabled = many === 0;
  }

  form.addEventListener("change", () => {
    show();
    try { localStorage.setItem(place, JSON.stringify(answers())); } catch { /* not every browser keeps anything for a file */ }
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const said = answers();
    const lines = [data.header];
    data.records.forEach((turn, number) => {
      const label = said[`turn-${number}`];
      if (label) lines.push(turn.document, turn.judgments[label]);
    });
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([`${lines.join("\n")}\n`], { type: "application/jsonl" }));
    link.download = "judged.jsonl";
    link.click();
    after.hidden = false;
  });
  try {
    for (const [name, label] of Object.entries(JSON.parse(localStorage.getItem(place) ?? "{}"))) {
      for (const input of form.querySelectorAll("input")) if (input.name === name && input.value === label) input.checked = true;
    }
  } catch { /* nothing was kept */ }
  show();
})();
