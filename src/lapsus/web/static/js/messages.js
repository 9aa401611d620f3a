/** Messages of those who run a campaign. Those that come while somebody judges are shown too. */
import { at } from "./addresses.js";
const OFTEN = 30_000;

export class Messages {
  /** @param {import("./judging_page.js").Page} page */
  constructor(page) {
    this.page = page;
    this.lookedAt = performance.now();
  }

  /** Look for new ones now and then. They can wait: what cannot be fetched is looked for next time. */
  async look() {
    if (performance.now() - this.lookedAt < OFTEN) return;
    this.lookedAt = performance.now();
    try {
      const answer = await fetch(at("/messages.json"));
      if (answer.ok) for (const message of (await answer.json()).messages) this.show(message);
    } catch {
      // No network, and no matter.
    }
  }

  /** @param {{id: number, campaign: string, sender: string|null, text: string}} message */
  show({ id, campaign, sender, text }) {
    const { notices, words, unit } = this.page;
    // Those of other campaigns are read there; and the page may have come with it.
    if (campaign !== unit.campaign || document.querySelector(`.message [name=message][value="${id}"]`)) return;
    const from = sender ? words.common("message.from", { title: unit.title, name: sender }) : unit.title;
    notices.show(`message-${id}`, `${from}\n${text}`, { actions: [{ label: words.common("message.read"), run: () => this.read(id) }] });
  }

  /** @param {number} id */
  async read(id) {
    const body = new URLSearchParams({ csrf: this.page.outbox.csrf, message: String(id), back: at("/session") });
    await fetch(at("/messages"), { method: "POST", body, redirect: "manual" }).catch(() => {});
    this.page.notices.hide(`message-${id}`);
  }
}
