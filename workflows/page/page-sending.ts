import { condition, patched, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../../activities/index.ts';
import * as options from '../activity-options.ts';
import { historyIsLong } from '../history-limit.ts';
import {
  outageOverSignal,
  pageStoppedSignal,
  waitingSignal,
  type PageControl,
  type PageEnding,
  type PageInput,
  type PageSending,
} from '../../src/contract/messages.ts';
import { waitAtMost } from '../wait-at-most.ts';

const { submitSlice } = proxyActivities<Activities>(options.SUBMIT);

/** Two slices at a time keep the connection pool busy while one of them reads or writes the ledger. */
const SLICES_AT_ONCE = 2;
/** Refused "for now" or lost: the slice is sent again after this, doubled each round. */
const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 60_000;

export interface PageNotifier {
  readonly control: () => PageControl;
  readonly notifyParent: (signal: string, ...args: readonly unknown[]) => Promise<void>;
  /** Ends this run of the page, and goes on in another one. */
  readonly goOn: (from: PageSending) => Promise<never>;
}

export interface SendingEnd {
  readonly ending: PageEnding;
  readonly waitedFor: string | null;
}

/** Rounds over the page until nothing is left to send, the time for it is spent, or an operator cancels. */
export async function sendPage(input: PageInput, notifier: PageNotifier): Promise<SendingEnd> {
  const { page, settings } = input;
  const stopped = (): boolean => notifier.control().cancelled || notifier.control().outageOver;
  const before = input.goOn?.phase === 'sending' ? input.goOn : null;
  let spent = before?.spentMs ?? 0;
  let outageSince = before?.outageSince ?? null;
  let notified = before?.notified ?? null;
  let waitedFor = before?.waitedFor ?? null;
  let byTries: boolean | null = null;
  const ending = await rounds();
  await notify(null);
  return { ending, waitedFor };

  async function rounds(): Promise<PageEnding> {
    for (let retry = before?.retryMs ?? FIRST_RETRY_MS; ; retry = Math.min(retry * 2, LONGEST_RETRY_MS)) {
      if (historyIsLong())
        await notifier.goOn({ phase: 'sending', spentMs: spent, outageSince, notified, waitedFor, retryMs: retry });
      if (notifier.control().paused) {
        if (input.run !== undefined) await notifier.notifyParent(pageStoppedSignal.name, { page });
        await condition(() => !notifier.control().paused || stopped());
        // Nobody tried meanwhile, so nobody knows how long the service was away.
        outageSince = null;
      }
      if (notifier.control().cancelled) return 'cancelled';
      if (notifier.control().outageOver) return 'outage';
      const began = Date.now();
      const round = await sendRound(input, notifier);
      if (round.left === 0 || round.stop) return notifier.control().cancelled ? 'cancelled' : 'sent';
      if (round.accepted > 0) {
        outageSince = null;
        retry = FIRST_RETRY_MS;
      }
      if (round.waiting !== null) {
        // Trouble of the whole service does not use up the send time of its invoices.
        outageSince ??= Date.now();
        const left = settings.patienceMs - (Date.now() - outageSince);
        waitedFor = round.waiting.reason;
        if (left <= 0) {
          await notifier.notifyParent(outageOverSignal.name);
          return 'outage';
        }
        await notify(round.waiting.reason);
        const ms = Math.min(round.waiting.probeAfterMs, left);
        await waitAtMost(ms, { summary: `waiting: ${round.waiting.reason}`, until: stopped });
        retry = FIRST_RETRY_MS / 2;
      } else if (!notifier.control().paused) {
        outageSince = null;
        await notify(null);
        // A round that got something through spends no time: a slow service is not a silent one.
        spent += retry + (round.accepted > 0 ? 0 : spentIn(round, Date.now() - began));
        if (spent > settings.sendMs) return 'send-time';
        await waitAtMost(retry, { summary: 'sending again what got no final answer', until: stopped });
      }
    }
  }

  /** A round that waits for a worker, or for Temporal itself, tries nothing. Runs of an earlier version counted that as well. */
  function spentIn({ triedMs }: Round, elapsedMs: number): number {
    byTries ??= patched('send-time-of-tries');
    return byTries ? triedMs : elapsedMs;
  }

  /** Told when it changes, not at each probe: an outage of hours must not fill the parent's history. */
  async function notify(reason: string | null): Promise<void> {
    if (reason === notified) return;
    notified = reason;
    await notifier.notifyParent(waitingSignal.name, { page, reason });
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
  /** For how long at least one slice could send; of slices side by side the longer row. */
  triedMs: number;
  waiting: Waiting | null;
}

/** Every slice of the page once, unless the service as a whole is in trouble or an operator stops it. */
async function sendRound(input: PageInput, { control }: PageNotifier): Promise<Round> {
  const { ledgerId, batchId, run, fencingToken, before, page, settings } = input;
  const round: Round = { accepted: 0, left: 0, stop: false, triedMs: 0, waiting: null };
  const starts: number[] = [];
  for (let from = input.firstOrdinal; from <= input.lastOrdinal; from += settings.sliceSize) starts.push(from);

  async function lane(): Promise<void> {
    let triedMs = 0;
    for (let from = starts.shift(); from !== undefined; from = starts.shift()) {
      const { paused, cancelled, outageOver } = control();
      if (paused || cancelled || outageOver || round.stop || round.waiting !== null) {
        // Not tried: the next round does.
        round.left += 1;
        return;
      }
      const to = Math.min(from + settings.sliceSize - 1, input.lastOrdinal);
      const slice = await submitSlice.executeWithOptions(
        { ...options.SUBMIT, summary: `sending invoices ${from} to ${to}` },
        [{ ledgerId, batchId, run, fencingToken, before, page, from, to }],
      );
      round.accepted += slice.accepted;
      round.left += slice.left;
      round.stop ||= slice.stop;
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
