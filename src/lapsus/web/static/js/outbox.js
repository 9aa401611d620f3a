/**
 * Sends answers: in order, each once, until the server says that it has them. They wait in a storage that outlives the
 * page; whichever tab is there sends for all.
 *
 * Events: "change" (how many wait), "saved" and "refused" (detail: entry and what the server said).
 *
 * @typedef {import("./types.js").Entry} Entry
 * @typedef {import("./types.js").Saved} Saved
 */
import { at, named } from "./addresses.js";
import { clearAside, leftAside, setAside } from "./unload_storage.js";
import { randomName } from "./dom.js";
import { openQueueStorage } from "./queue_storage.js";

const LONGEST = 60;
const PATIENCE = 15_000;

export class Outbox extends EventTarget {
  /** @param {{person: number, csrf: string}} who @param {Awaited<ReturnType<typeof openQueueStorage>>} storage */
  constructor(who, storage) {
    super();
    this.person = who.person;
    this.csrf = who.csrf;
    this.storage = storage;
    this.waiting = 0;
    /** @type {Entry[]} */
    this.refused = [];
    this.failures = 0;
    this.needsSignIn = false;
    this.sending = false;
    this.again = false;
    /** @type {Map<string, number>} the revision that the server took last, by sheet */
    this.built = new Map();
    /** @type {ReturnType<typeof setTimeout>|undefined} */
    this.timer = undefined;
    this.channel = "BroadcastChannel" in window ? new BroadcastChannel(named("lapsus")) : null;
    this.listen();
  }

  /** It sends nothing before it is told to: a page first looks at what waits. @param {{person: number, csrf: string}} who */
  static async open(who) {
    const outbox = new Outbox(who, await openQueueStorage());
    for (const entry of leftAside(who.person)) await outbox.place(entry);
    await outbox.count();
    return outbox;
  }

  listen() {
    const atOnce = () => {
      this.failures = 0;
      this.pump();
    };
    addEventListener("online", atOnce);
    document.addEventListener("visibilitychange", () => !document.hidden && atOnce());
    addEventListener("beforeunload", (event) => {
      if (!this.storage.lasts && this.waiting) event.preventDefault();
    });
    this.channel?.addEventListener("message", ({ data }) => {
      if (data.person !== this.person) return;
      if (data.kind === "change") this.count();
      else this.tell(data.kind, { ...data.detail, elsewhere: true });
    });
  }

  /**
   * Keep something until it is sent. A draft that nobody has tried to send gives way to what came after it.
   * @param {Pick<Entry, "campaign"|"unit"|"sheet"|"kind"|"body">} what
   * @param {string} [key] made once for each answer, and sent with every try
   * @returns {Promise<void>} when it is stored
   */
  async add(what, key = randomName()) {
    const entry = { ...what, key, at: new Date().toISOString(), person: this.person, tried: false, refused: null, body: { ...what.body, key } };
    // Storing takes a moment, which a page that is being closed does not have.
    setAside(entry);
    await this.place(entry);
    await this.count();
    this.channel?.postMessage({ kind: "change", person: this.person });
    this.pump();
  }

  /** Store something, unless it is there. @param {Entry} entry @returns {Promise<void>} when it is on disk */
  async place(entry) {
    await this.storage.change((entries, store) => {
      if (entries.some((old) => old.key === entry.key)) return;
      for (const old of entries) {
        if (old.person !== this.person || old.kind !== "judgments" || entry.kind !== "judgments") continue;
        const isDraft = old.sheet === entry.sheet && !old.body.submitted && !old.tried;
        const isRefused = old.refused && old.campaign === entry.campaign && old.unit === entry.unit;
        if (isDraft || isRefused) store.remove(old);
      }
      // Its page may not have heard yet of what the server took last.
      const built = this.built.get(entry.sheet) ?? 0;
      const isBehind = entry.kind === "judgments" && built > (entry.body.base_revision ?? 0);
      store.put(isBehind ? { ...entry, body: { ...entry.body, base_revision: built } } : entry);
    }, { lasting: true });
    clearAside(entry);
  }

  /** What waits for a unit: the newest. @param {string} campaign @param {number} unit @returns {Promise<Entry|undefined>} */
  newestOf(campaign, unit) {
    const isIt = (/** @type {Entry} */ entry) =>
      entry.person === this.person && entry.kind === "judgments" && entry.campaign === campaign && entry.unit === unit;
    return this.storage.look((entries) => entries.filter(isIt).at(-1));
  }

  /** What was said in the talk about a unit and waits. @param {string} campaign @param {number} unit @returns {Promise<Entry[]>} */
  flagsOf(campaign, unit) {
    const isIt = (/** @type {Entry} */ entry) =>
      entry.person === this.person && entry.kind === "flags" && entry.campaign === campaign && entry.unit === unit;
    return this.storage.look((entries) => entries.filter(isIt));
  }

  /** Units of a campaign whose answer is given and waits. @param {string} campaign @returns {Promise<Set<number>>} */
  submittedUnits(campaign) {
    const isIt = (/** @type {Entry} */ entry) => entry.person === this.person && entry.campaign === campaign && entry.body.submitted && !entry.refused;
    return this.storage.look((entries) => new Set(entries.filter(isIt).map((entry) => entry.unit)));
  }

  /** Whether nothing gets through just now. */
  get isOff() {
    return this.failures > 0 || !navigator.onLine;
  }

  /** Give up something that the server did not accept. @param {Entry} entry */
  async discard(entry) {
    await this.storage.change((entries, store) => store.remove(entry));
    await this.count();
  }

  async count() {
    const mine = await this.storage.look((entries) => entries.filter((entry) => entry.person === this.person));
    this.refused = mine.filter((entry) => entry.refused);
    this.waiting = mine.length - this.refused.length;
    this.dispatchEvent(new Event("change"));
  }

  /** Send what waits, if nobody does so already. */
  async pump() {
    if (this.sending) {
      this.again = true;
      return;
    }
    this.sending = true;
    clearTimeout(this.timer);
    try {
      do {
        this.again = false;
        await oneAtATime(() => this.drain());
      } while (this.again && this.failures === 0 && !this.needsSignIn);
    } finally {
      this.sending = false;
      await this.count();
    }
  }

  /** In order; stops at the first that cannot be sent now. */
  async drain() {
    for (;;) {
      const entry = await this.take();
      if (!entry) return;
      if (!(await this.send(entry))) {
        this.later();
        return;
      }
      await this.count();
    }
  }

  /** The first one, marked as tried: from now on the server may know it. @returns {Promise<Entry|undefined>} */
  take() {
    return this.storage.change((entries, store) => {
      const first = entries.find((entry) => entry.person === this.person && !entry.refused);
      if (first && !first.tried) store.put({ ...first, tried: true });
      return first;
    });
  }

  /** @param {Entry} entry @param {boolean} [renewed] @returns {Promise<boolean>} whether to go on with the next */
  async send(entry, renewed = false) {
    let answer, said;
    try {
      answer = await fetch(at(`/api/v1/campaigns/${entry.campaign}/units/${entry.unit}/${entry.kind}`), {
        method: "POST",
        headers: { "Content-Type": "application/json", "X-CSRF-Token": this.csrf },
        body: JSON.stringify(entry.body),
        signal: AbortSignal.timeout(PATIENCE),
      });
      said = await answer.json();
    } catch {
      return false;
    }
    // Networks answer in a server's place: nothing is saved, and nothing refused, but in its own words.
    if (answer.status === 201) return said?.key === entry.key && this.kept(entry, said);
    if (answer.status === 401 || said?.reason === "csrf") {
      return !renewed && (await this.renew()) ? this.send(entry, true) : false;
    }
    const { status } = answer;
    return status >= 400 && status < 500 && ![408, 429].includes(status) && !!said?.reason && this.notAccepted(entry, said);
  }

  /** The server has it. What follows on the same sheet now builds on it. @param {Entry} entry @param {Saved} saved */
  async kept(entry, saved) {
    if (entry.kind === "judgments") this.built.set(entry.sheet, saved.revision);
    await this.storage.change((entries, store) => {
      store.remove(entry);
      for (const next of entries) {
        if (next.sheet === entry.sheet && next.seq !== entry.seq && next.kind === "judgments" && !next.tried) {
          store.put({ ...next, body: { ...next.body, base_revision: saved.revision } });
        }
      }
    });
    this.failures = 0;
    this.needsSignIn = false;
    this.everywhere("saved", { entry, saved });
    return true;
  }

  /** The server cannot take it. It is put aside, not lost, and the others go on. @param {Entry} entry @param {any} said */
  async notAccepted(entry, said) {
    const refused = { reason: said.reason ?? "", messages: said.messages ?? [said.message ?? ""] };
    await this.storage.change((entries, store) => store.put({ ...entry, refused }));
    this.everywhere("refused", { entry: { ...entry, refused } });
    return true;
  }

  /** A new token for the same person. @returns {Promise<boolean>} */
  async renew() {
    try {
      const session = await (await fetch(at("/session.json"))).json();
      this.needsSignIn = session.person?.id !== this.person;
      if (!this.needsSignIn) this.csrf = session.csrf;
      return !this.needsSignIn;
    } catch {
      return false;
    }
  }

  later() {
    this.failures += 1;
    const seconds = Math.min(LONGEST, 2 ** (this.failures - 1));
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.pump(), seconds * (800 + 400 * Math.random()));
  }

  /** @param {string} kind @param {any} detail */
  everywhere(kind, detail) {
    this.tell(kind, detail);
    this.channel?.postMessage({ kind, person: this.person, detail });
    this.channel?.postMessage({ kind: "change", person: this.person });
  }

  /** @param {string} kind @param {any} detail */
  tell(kind, detail) {
    this.dispatchEvent(new CustomEvent(kind, { detail }));
  }
}

/** One tab at a time, where the browser can see to that; the server keeps the same key once in any case. @param {() => Promise<void>} work */
function oneAtATime(work) {
  return navigator.locks ? navigator.locks.request(named("lapsus-outbox"), work) : work();
}
