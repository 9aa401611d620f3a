/** Messages of those who run a campaign, while somebody judges. @typedef {import("./judging_page.js").Page} Page */
import { at } from "./addresses.js";

/** Show new ones. They can wait: what cannot be fetched is looked for next time. @param {Page} page */
export async function showMessages(page) {
  try {
    const answer = await fetch(at("/messages.json"));
    if (answer.ok) for (const message of (await answer.json()).messages) show(page, message);
  } catch {
    // No network, and no matter.
  }
}

/** @param {Page} page @param {{id: number, campaign: string, sender: string|null, text: string}} message */
function show(page, { id, campaign, sender, text }) {
  const { notices, words, unit } = page;
  // Those of other campaigns are read there; and the page may have come with it.
  if (campaign !== unit.campaign || document.querySelector(`.message [name=message][value="${id}"]`)) return;
  const from = sender ? words.common("message.from", { title: unit.title, name: sender }) : unit.title;
  notices.show(`message-${id}`, `${from}\n${text}`, { actions: [{ label: words.common("message.read"), run: () => read(page, id) }] });
}

/** @param {Page} page @param {number} id */
async function read(page, id) {
  const body = new URLSearchParams({ csrf: page.outbox.csrf, message: String(id), back: at("/session") });
  await fetch(at("/messages"), { method: "POST", body, redirect: "manual" }).catch(() => {});
  page.notices.hide(`message-${id}`);
}
