/** From unit to unit, without loading the page anew. @typedef {import("./types.js").Unit} Unit */
import { at } from "./addresses.js";

/** The server said no, or did not answer. */
export class TravelError extends Error {
  /** @param {number} status 0: no answer @param {string} message */
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** @param {string} url @returns {Promise<any>} */
async function get(url) {
  let answer;
  try {
    answer = await fetch(url, { signal: AbortSignal.timeout(15_000) });
  } catch {
    throw new TravelError(0, "");
  }
  const said = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new TravelError(answer.status, said.message ?? "");
  return said;
}

/** A unit; where an earlier one has to be judged first, that one. @param {string} campaign @param {number} number @returns {Promise<Unit>} */
export function fetchUnit(campaign, number) {
  return get(at(`/c/${campaign}/u/${number}.json`));
}

/** All units that are mine now, some of them ahead of time. @param {string} campaign @returns {Promise<number[]>} */
export async function fetchAhead(campaign) {
  return (await get(at(`/api/v1/campaigns/${campaign}/next?ahead=true`))).units;
}

/** The next unit that is free, or null where there is none now. @param {string} campaign @returns {Promise<number|null>} */
export async function fetchNext(campaign) {
  return (await get(at(`/api/v1/campaigns/${campaign}/next`))).unit;
}
