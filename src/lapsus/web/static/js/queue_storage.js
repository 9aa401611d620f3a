/**
 * Where answers wait until the server has them: in the browser's database, so that they outlive the page.
 * @typedef {import("./types.js").Entry} Entry
 */
import { named } from "./addresses.js";

const STORE = "outbox";

/** @returns {Promise<QueueStorage|MemoryStorage>} */
export async function openQueueStorage() {
  try {
    return new QueueStorage(await openDatabase());
  } catch {
    // Some private windows have no database. Then answers wait in the page, which says so before it goes.
    return new MemoryStorage();
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
   * @param {(entries: Entry[], store: {put: (entry: Entry) => void, remove: (entry: Entry) => void}) => T} work
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
  constructor() {
    /** @type {Entry[]} */
    this.entries = [];
    this.lasts = false;
    this.next = 1;
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
   * @param {(entries: Entry[], store: {put: (entry: Entry) => void, remove: (entry: Entry) => void}) => T} work
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
