import { hasPatch } from '../has-patch.ts';
import { waitAtMost } from '../wait-at-most.ts';
import type { BatchControl } from './batch-control.ts';

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

  /** So much of the last wait was not waited. */
  giveBack(ms: number): void {
    this.#waited -= ms;
  }
}

/** How a batch waits for the service between two tries. */
interface WaitForService {
  readonly summary: string;
  readonly atLeastMs?: number | undefined;
  /** `controlVersion` of the batch when the last try began. */
  readonly version: number;
}

/** Waits with patience. A cancellation ends the wait; a resumption too, for whoever resumes a batch wants it to go on now. */
export async function waitForService(
  batch: Pick<BatchControl, 'paused' | 'cancelled' | 'controlVersion'>,
  patience: PatientWait,
  { summary, atLeastMs, version }: WaitForService,
): Promise<void> {
  const waitMs = patience.take(atLeastMs);
  const end = Date.now() + waitMs;
  const isResumed = (): boolean => batch.controlVersion !== version && !batch.paused && hasPatch('resume-ends-a-wait');
  await waitAtMost(waitMs, { summary, until: () => batch.cancelled || isResumed() });
  if (isResumed()) patience.giveBack(Math.max(0, end - Date.now()));
}
