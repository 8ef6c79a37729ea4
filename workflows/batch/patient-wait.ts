/** Nothing has been sent yet, so there is no hurry: asked again after 1, 2, 4 … 30 s. */
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 30_000;
/** An outage of days: a twentieth of what was waited already, up to a quarter of an hour, so that 24 days are some 25,000 events. */
const LATER_SHARE = 20;
const LATEST_WAIT_MS = 15 * 60_000;

/** Waits that become longer, all of them together no longer than `patienceMs`. Times are milliseconds. */
export class PatientWait {
  readonly #patienceMs: number;
  #waited = 0;
  #next = FIRST_WAIT_MS;

  constructor(patienceMs: number) {
    this.#patienceMs = patienceMs;
  }

  /** The whole patience is spent. */
  get isSpent(): boolean {
    return this.#waited >= this.#patienceMs;
  }

  /** How long to wait now, at least `atLeastMs` while the patience allows it. It counts as waited. */
  take(atLeastMs = 0): number {
    const wait = Math.min(Math.max(this.#next, atLeastMs), this.#patienceMs - this.#waited);
    this.#waited += wait;
    const longest = Math.min(Math.max(LONGEST_WAIT_MS, this.#waited / LATER_SHARE), LATEST_WAIT_MS);
    this.#next = Math.min(this.#next * 2, longest);
    return wait;
  }
}
