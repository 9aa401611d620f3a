/** How long somebody works on a unit. A pause counts for a minute at most, a hidden page not at all. */

const PAUSE = 60_000;
const SIGNS = ["pointerdown", "pointermove", "keydown", "wheel", "touchstart", "scroll"];

export class Clock {
  /** @param {() => number} [now] milliseconds that only ever go on */
  constructor(now = () => performance.now()) {
    this.now = now;
    this.worked = 0;
    this.last = now();
    for (const sign of SIGNS) addEventListener(sign, () => this.tick(), { passive: true, capture: true });
    document.addEventListener("visibilitychange", () => {
      // Time in the foreground is counted; on the way back only the new beginning is noted.
      if (document.hidden) this.tick();
      else this.last = this.now();
    });
  }

  /** Somebody is there. */
  tick() {
    const now = this.now();
    this.worked += Math.min(now - this.last, PAUSE);
    this.last = now;
  }

  /** Begin anew, for another unit. @param {number} [seconds] what was worked on it before */
  start(seconds = 0) {
    this.worked = seconds * 1000;
    this.last = this.now();
  }

  /** Seconds of work since the beginning. */
  seconds() {
    if (!document.hidden) this.tick();
    return Math.round(this.worked / 100) / 10;
  }
}
