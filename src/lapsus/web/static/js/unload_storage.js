/**
 * A place for answers until they are stored: writing here takes no time, so that it is done even where the page is
 * closed at once.
 * @typedef {import("./types.js").Entry} Entry
 */
import { named } from "./addresses.js";

const PREFIX = named("lapsus-aside-");

/** @param {Entry} entry */
export function setAside(entry) {
  try {
    localStorage.setItem(PREFIX + entry.key, JSON.stringify(entry));
  } catch {
    // Some private windows have no such place, and it may be full. The storage is the one that counts.
  }
}

/** It is stored. @param {Entry} entry */
export function clearAside(entry) {
  try {
    localStorage.removeItem(PREFIX + entry.key);
  } catch {
    // Then nothing was there.
  }
}

/** What is damaged is passed over. @param {string|null} kept @returns {Entry[]} */
function entryOf(kept) {
  try {
    const entry = JSON.parse(kept ?? "null");
    return entry?.body ? [entry] : [];
  } catch {
    return [];
  }
}

/** What somebody's pages had no time to store, the oldest first. @param {number} person @returns {Entry[]} */
export function leftAside(person) {
  try {
    const names = Object.keys(localStorage).filter((name) => name.startsWith(PREFIX));
    const mine = names.flatMap((name) => entryOf(localStorage.getItem(name))).filter((entry) => entry.person === person);
    return mine.sort((one, other) => String(one.body.given_at).localeCompare(String(other.body.given_at)));
  } catch {
    return [];
  }
}
