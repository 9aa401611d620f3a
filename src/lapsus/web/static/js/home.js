/** The first page: how much one did today. When the day began is known here, where the reader is. */
import { at } from "./addresses.js";
const place = document.getElementById("today");
const midnight = new Date();
midnight.setHours(0, 0, 0, 0);
try {
  const answer = place && (await fetch(at(`/today.json?since=${encodeURIComponent(midnight.toISOString())}`)));
  const judged = answer?.ok ? (await answer.json()).judged : 0;
  if (place && judged) place.textContent = (place.dataset.words ?? "").replace("{count}", judged.toLocaleString(document.documentElement.lang));
} catch {
  // No network, and no matter.
}
export {};
