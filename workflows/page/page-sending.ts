import { condition } from '@temporalio/workflow';
import { activities } from '../activities.ts';
import { historyIsLong, waitAtMost } from '../wait-at-most.ts';
import {
  LONGEST_SLICE_MS,
  outageOverSignal,
  pageSentSignal,
  pageStoppedSignal,
  waitingSignal,
  type PageControl,
  type PageEnding,
  type PageInput,
  type PageSpent,
} from '../../src/domain/messages/messages.ts';

const { submitSlice } = activities;

/** Two slices at a time keep the connection pool busy while one of them reads or writes the ledger. */
const SLICES_AT_ONCE = 2;
/** Pause before a slice with lost answers or "not now" answers is sent again; it doubles each round. */
const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 60_000;

/** State and callbacks of one run of a page. */
export interface PageRun {
  readonly control: () => PageControl;
  /** Ordinals that signals called settled since the last read. */
  readonly settled: Set<number>;
  readonly notifyParent: (signal: string, ...args: readonly unknown[]) => Promise<void>;
  /** Ends this run of the page and begins again in another one. */
  readonly beginAgain: (spent: PageSpent) => Promise<never>;
}

/** Why a page stopped sending, and what it used up until then. */
export interface SendingEnd {
  readonly ending: PageEnding;
  readonly spent: PageSpent;
}

/** Sends a page in rounds until nothing is left to send, the time for it is spent, or an operator cancels. */
export class PageSender {
  readonly #input: PageInput;
  readonly #run: PageRun;
  readonly #spent: { -readonly [Name in keyof PageSpent]: PageSpent[Name] };
  /** The last reason for waiting of which this run has notified the batch. A later run does not know it (undefined), so it always sends its first notice. */
  #notified: string | null | undefined;
  #retryMs = FIRST_RETRY_MS;
  #isTried = false;

  constructor(input: PageInput, run: PageRun) {
    this.#input = input;
    this.#run = run;
    this.#spent = { ...(input.spent ?? { sendMs: 0, outageSince: null, waitedFor: null }) };
    this.#notified = input.spent === undefined ? null : undefined;
  }

  async send(): Promise<SendingEnd> {
    const ending = await this.#rounds();
    await this.#notify(null);
    return { ending, spent: this.#spent };
  }

  async #rounds(): Promise<PageEnding> {
    for (; ; this.#retryMs = Math.min(this.#retryMs * 2, LONGEST_RETRY_MS)) {
      if (historyIsLong()) await this.#run.beginAgain(this.#spent);
      const control = this.#run.control;
      if (control().paused) await this.#waitWhilePaused();
      if (control().cancelled) return 'cancelled';
      if (control().outageOver) return 'outage';
      const round = await sendRound(this.#input, this.#run);
      if (round.left === 0 || round.stop) return control().cancelled ? 'cancelled' : 'sent';
      if (round.accepted > 0) {
        this.#spent.outageSince = null;
        this.#retryMs = FIRST_RETRY_MS;
      }
      const ending = await this.#waitForNextRound(round);
      if (ending !== null) return ending;
    }
  }

  /** Waits for the next round. Returns the ending if there is no next round. */
  async #waitForNextRound(round: Round): Promise<PageEnding | null> {
    if (round.waiting !== null) return this.#waitForService(round.waiting);
    if (this.#run.control().paused) return null;
    this.#spent.outageSince = null;
    await this.#notify(null);
    if (await this.#goesOnAtOnce(round)) return null;
    // A round with an accepted invoice uses up no send time: the service is slow, but it answers.
    this.#spent.sendMs += this.#retryMs + (round.accepted > 0 ? 0 : round.triedMs);
    if (this.#spent.sendMs > this.#input.settings.sendMs) return 'send-time';
    await waitAtMost(this.#retryMs, { summary: 'sending again what got no final answer', until: this.#stopped });
    return null;
  }

  /** Returns true to continue at once with invoices that a slice had no time for. When all were tried once, another page may take this page's place. */
  async #goesOnAtOnce({ accepted, isCut }: Round): Promise<boolean> {
    if (this.#isTried) return false;
    if (isCut) return accepted > 0;
    this.#isTried = true;
    await this.#run.notifyParent(pageSentSignal.name, { page: this.#input.page });
    return false;
  }

  /** Trouble of the whole service does not use up the send time of the page's invoices. */
  async #waitForService({ reason, probeAfterMs }: Waiting): Promise<PageEnding | null> {
    this.#spent.outageSince ??= Date.now();
    const left = this.#input.settings.patienceMs - (Date.now() - this.#spent.outageSince);
    this.#spent.waitedFor = reason;
    if (left <= 0) {
      await this.#run.notifyParent(outageOverSignal.name);
      return 'outage';
    }
    await this.#notify(reason);
    await waitAtMost(Math.min(probeAfterMs, left), { summary: `waiting: ${reason}`, until: this.#stopped });
    this.#retryMs = FIRST_RETRY_MS / 2;
    return null;
  }

  async #waitWhilePaused(): Promise<void> {
    await this.#run.notifyParent(pageStoppedSignal.name, { page: this.#input.page });
    await condition(() => !this.#run.control().paused || this.#stopped());
    // Nothing was sent meanwhile, so it is unknown how long the service was away.
    this.#spent.outageSince = null;
  }

  readonly #stopped = (): boolean => {
    const { cancelled, outageOver } = this.#run.control();
    return cancelled || outageOver;
  };

  /** Notifies of a change, not of each probe: an outage of hours must not fill the parent's history. */
  async #notify(reason: string | null): Promise<void> {
    if (reason === this.#notified) return;
    this.#notified = reason;
    await this.#run.notifyParent(waitingSignal.name, { page: this.#input.page, reason });
  }
}

interface Waiting {
  readonly reason: string;
  readonly probeAfterMs: number;
}

interface Round {
  accepted: number;
  left: number;
  stop: boolean;
  /** A slice had no time for all of its invoices. */
  isCut: boolean;
  /** Time in which at least one slice could send, in milliseconds. Two lanes send slices side by side; the longer lane counts. */
  triedMs: number;
  waiting: Waiting | null;
}

/** Sends every slice of the page once, unless the whole service is in trouble or an operator stops it. */
async function sendRound(input: PageInput, { control }: PageRun): Promise<Round> {
  const { ledgerId, batchId, run, fencingToken, before, page, settings } = input;
  const round: Round = { accepted: 0, left: 0, stop: false, isCut: false, triedMs: 0, waiting: null };
  const starts: number[] = [];
  for (let from = input.firstOrdinal; from <= input.lastOrdinal; from += settings.sliceSize) starts.push(from);

  async function lane(): Promise<void> {
    let triedMs = 0;
    for (let from = starts.shift(); from !== undefined; from = starts.shift()) {
      const { paused, cancelled, outageOver } = control();
      if (paused || cancelled || outageOver || round.stop || round.waiting !== null) {
        // The next round sends this slice.
        round.left += 1;
        return;
      }
      const to = Math.min(from + settings.sliceSize - 1, input.lastOrdinal);
      const began = Date.now();
      const slice = await submitSlice.executeWithOptions({ summary: `sending invoices ${from} to ${to}` }, [
        { ledgerId, batchId, run, fencingToken, before, page, from, to },
      ]);
      round.accepted += slice.accepted;
      round.left += slice.left;
      round.stop ||= slice.stop;
      round.isCut ||= slice.left > 0 && Date.now() - began >= LONGEST_SLICE_MS;
      triedMs += slice.triedMs ?? 0;
      round.triedMs = Math.max(round.triedMs, triedMs);
      round.waiting = longer(round.waiting, slice.waiting);
    }
  }

  await Promise.all(Array.from({ length: SLICES_AT_ONCE }, lane));
  return round;
}

function longer(one: Waiting | null, other: Waiting | null): Waiting | null {
  return (one?.probeAfterMs ?? 0) >= (other?.probeAfterMs ?? 0) ? one : other;
}
