/** Messages of those who run a campaign. Those that come while somebody judges are shown too. */
const OFTEN = 30_000;

export class Messages {
  /** @param {import("./page.js").Page} page */
  constructor(page) {
    this.page = page;
    this.lookedAt = performance.now();
  }

  /** Look for new ones now and then. They can wait: what cannot be fetched is looked for next time. */
  async look() {
    if (performance.now() - this.lookedAt < OFTEN) return;
    this.lookedAt = performance.now();
    try {
      const answer = await fetch("/messages.json");
      if (answer.ok) for (const message of (await answer.json()).messages) this.show(message);
    } catch {
      // No network, and no matter.
    }
  }

  /** @param {{id: number, sender: string|null, text: string}} message */
  show({ id, sender, text }) {
    // The page may have come with it.
    if (document.querySelector(`.message [name=message][value="${id}"]`)) return;
    const { notices, words } = this.page;
    const from = sender ? words.say("message.from", { name: sender }) : words.say("message.title");
    notices.show(`message-${id}`, `${from}\n${text}`, { actions: [{ label: words.say("message.read"), run: () => this.read(id) }] });
  }

  /** @param {number} id */
  async read(id) {
    const body = new URLSearchParams({ csrf: this.page.outbox.csrf, message: String(id), back: "/session" });
    await fetch("/messages", { method: "POST", body, redirect: "manual" }).catch(() => {});
    this.page.notices.hide(`message-${id}`);
  }
}
