/**
 * Where answers wait until the server has them: in the browser's database, so that they outlive the page.
 * @typedef {import("./types.js").Entry} Entry
 */
/** @template T @typedef {(entries: Entry[], store: {put: (entry: Entry) => void, remove: (entry: Entry) => void}) => T} Work */
import { named } from "./addresses.js";

const STORE = "outbox";

/** Some private windows have no database. Then answers wait in the page, which says so before it goes. */
export async function openQueueStorage() {
  return new PageStorage((await lasting()) ?? new MemoryStorage());
}

/** @returns {Promise<QueueStorage|null>} */
async function lasting() {
  try {
    return new QueueStorage(await openDatabase());
  } catch {
    return null;
  }
}

/** The browser's database for as long as it works: it may be cleared, or have no room, while the page is open. */
class PageStorage {
  /** @param {QueueStorage|MemoryStorage} now */
  constructor(now) {
    this.now = now;
  }

  get lasts() {
    return this.now.lasts;
  }

  /** @template T @param {(entries: Entry[]) => T} work @returns {Promise<T>} */
  look(work) {
    return this.use((storage) => storage.look(work));
  }

  /** @template T @param {Work<T>} work @param {{lasting?: boolean}} [how] @returns {Promise<T>} */
  change(work, how) {
    return this.use((storage) => storage.change(work, how));
  }

  /** @template T @param {(storage: QueueStorage|MemoryStorage) => Promise<T>} what @returns {Promise<T>} */
  async use(what) {
    const tried = this.now;
    try {
      return await what(tried);
    } catch (error) {
      if (!tried.lasts) throw error;
    }
    const again = await lasting();
    try {
      if (!again) throw new Error("no database");
      const done = await what(again);
      this.now = again;
      return done;
    } catch {
      // What is in the database and sent from here too is the same to the server: a key counts once.
      if (this.now.lasts) this.now = new MemoryStorage((await again?.look((entries) => entries).catch(() => [])) ?? []);
      return what(this.now);
    }
  }
}

/** @returns {Promise<IDBDatabase>} */
function openDatabase() {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(named("lapsus"), 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE, { keyPath: "seq", autoIncrement: true });
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
    request.onblocked = () => reject(new Error("blocked"));
  });
}

/** Entries in the order in which they came. Each change is one transaction, whatever other tabs do meanwhile. */
export class QueueStorage {
  /** @param {IDBDatabase} database */
  constructor(database) {
    this.database = database;
    this.lasts = true;
    // A newer page wants to change the database: it must not wait for us.
    database.onversionchange = () => database.close();
  }

  /**
   * Look at all entries.
   * @template T
   * @param {(entries: Entry[]) => T} work
   * @returns {Promise<T>}
   */
  look(work) {
    return new Promise((resolve, reject) => {
      const reading = this.database.transaction(STORE).objectStore(STORE).getAll();
      reading.onsuccess = () => resolve(work(reading.result));
      reading.onerror = () => reject(reading.error);
    });
  }

  /**
   * Look at all entries and change them. Resolves when the change is made; with `lasting`, when it is on disk.
   * @template T
   * @param {Work<T>} work
   * @param {{lasting?: boolean}} [how]
   * @returns {Promise<T>}
   */
  change(work, { lasting = false } = {}) {
    return new Promise((resolve, reject) => {
      const transaction = this.database.transaction(STORE, "readwrite", { durability: lasting ? "strict" : "relaxed" });
      const store = transaction.objectStore(STORE);
      /** @type {T} */
      let result;
      const reading = store.getAll();
      reading.onsuccess = () => {
        result = work(reading.result, {
          put: (entry) => store.put(entry),
          remove: (entry) => store.delete(/** @type {number} */ (entry.seq)),
        });
      };
      transaction.oncomplete = () => resolve(result);
      transaction.onabort = transaction.onerror = () => reject(transaction.error);
    });
  }
}

/** The same, for as long as the page is open. */
export class MemoryStorage {
  /** @param {Entry[]} [entries] what waited elsewhere */
  constructor(entries = []) {
    this.entries = entries;
    this.lasts = false;
    this.next = 1 + Math.max(0, ...entries.map((entry) => entry.seq ?? 0));
  }

  /**
   * @template T
   * @param {(entries: Entry[]) => T} work
   * @returns {Promise<T>}
   */
  async look(work) {
    return work(structuredClone(this.entries));
  }

  /**
   * @template T
   * @param {Work<T>} work
   * @returns {Promise<T>}
   */
  async change(work) {
    return work(structuredClone(this.entries), {
      put: (entry) => {
        const at = this.entries.findIndex((one) => one.seq === entry.seq);
        if (at >= 0) this.entries[at] = entry;
        else this.entries.push({ ...entry, seq: this.next++ });
      },
      remove: (entry) => {
        this.entries = this.entries.filter((one) => one.seq !== entry.seq);
      },
    });
  }
}
