import { condition, continueAsNew, getExternalWorkflowHandle, log, workflowInfo } from '@temporalio/workflow';
import type { CloseInput, PageLook } from '../activities/settling/settle.ts';
import {
  controlSignal,
  LONGEST_SLICE_MS,
  outageOverSignal,
  pageSentSignal,
  pageStoppedSignal,
  settledSignal,
  waitingSignal,
  type PageControl,
  type PageEnding,
  type PageInput,
  type PageResult,
  type PageSpent,
} from '../src/domain/messages/messages.ts';
import { activities } from './activities.ts';
import { onSignal, requireOwnInput } from './typed-by-hand.ts';
import { growingWait, historyIsLong, waitAtMost } from './wait-at-most.ts';

const { closePage, lookAtPage, pollNow, reviewPage, submitSlice } = activities;

/**
 * Runs one page of a batch: send its slices -> wait for final words -> poll pending invoices -> close. Every page ends.
 * A page that waits for days begins again in further runs, under the same id and for the same batch: the ledger knows
 * what is left to do. Signals that come between two runs reach the second.
 */
export async function invoicePage(input: PageInput): Promise<PageResult> {
  requireOwnInput('invoicePage', input, OWN_INPUT);
  const run = listen(input);
  const sent = await new PageSender(input, run).send();
  // Comes before the wait: a command that is issued during a local activity leaves only when the activity ends.
  await notifyParent(pageSentSignal.name, { page: input.page });
  return { unsettled: await waitForFinalWords(input, run, sent) };
}

const CONTROL = { paused: false, cancelled: false, outageOver: false, settleNow: 0 };
const OWN_INPUT = {
  ...{ ledgerId: '', batchId: '', page: 1, firstOrdinal: 1, lastOrdinal: 1, control: CONTROL },
  settings: { sliceSize: 1, settleMs: 0, sendMs: 0, patienceMs: 0 },
};

/** Registers the handlers before the first await. */
function listen(input: PageInput): PageRun {
  const settled = new Set<number>();
  let control: PageControl = input.control;
  onSignal(
    settledSignal,
    { ordinals: [1] },
    ({ ordinals }) => {
      for (const ordinal of ordinals) settled.add(ordinal);
    },
    '{"ordinals": [1]} These invoices came to rest.',
  );
  onSignal(
    controlSignal,
    CONTROL,
    (next) => void (control = next),
    'What an operator told the batch. Pause and cancel the batch, not its pages.',
  );
  return { control: () => control, settled };
}

/** Ends this run of the page and begins again in another one. */
function beginAgain(input: PageInput, run: PageRun, spent: PageSpent): Promise<never> {
  return continueAsNew<typeof invoicePage>({ ...input, control: run.control(), spent });
}

/** Signals the present run of the parent, because a person may have reset the run that started this page. A parent that is gone needs no signal. */
async function notifyParent(signal: string, ...args: readonly unknown[]): Promise<void> {
  const { parent } = workflowInfo();
  if (parent === undefined) return;
  const latest = getExternalWorkflowHandle(parent.workflowId);
  await latest.signal(signal, ...args).catch(() => undefined);
}

/** Two slices at a time keep the connection pool busy while one of them reads or writes the ledger. */
const SLICES_AT_ONCE = 2;
/** Pause before a slice with lost answers or "not now" answers is sent again; it doubles each round. */
const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 60_000;

/** What signals told this run of a page. */
interface PageRun {
  readonly control: () => PageControl;
  /** Ordinals that signals called settled since the last read. */
  readonly settled: Set<number>;
}

/** Why a page stopped sending, and what it used up until then. */
interface SendingEnd {
  readonly ending: PageEnding;
  readonly spent: PageSpent;
}

/** Sends a page in rounds until nothing is left to send, the time for it is spent, or an operator cancels. */
class PageSender {
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
      if (historyIsLong()) await beginAgain(this.#input, this.#run, this.#spent);
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
    await notifyParent(pageSentSignal.name, { page: this.#input.page });
    return false;
  }

  /** Trouble of the whole service does not use up the send time of the page's invoices. */
  async #waitForService({ reason, probeAfterMs }: Waiting): Promise<PageEnding | null> {
    this.#spent.outageSince ??= Date.now();
    const left = this.#input.settings.patienceMs - (Date.now() - this.#spent.outageSince);
    this.#spent.waitedFor = reason;
    if (left <= 0) {
      await notifyParent(outageOverSignal.name);
      return 'outage';
    }
    await this.#notify(reason);
    await waitAtMost(Math.min(probeAfterMs, left), { summary: `waiting: ${reason}`, until: this.#stopped });
    this.#retryMs = FIRST_RETRY_MS / 2;
    return null;
  }

  async #waitWhilePaused(): Promise<void> {
    await notifyParent(pageStoppedSignal.name, { page: this.#input.page });
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
    await notifyParent(waitingSignal.name, { page: this.#input.page, reason });
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

/** A signal may be lost, so the page reads the ledger again after 5, 10, 20 … 60 s without one. */
const FIRST_REREAD_MS = 5_000;
/** The shortest wait between two readings. A poll without an answer stays due, and must not be repeated at once. */
const SHORTEST_REREAD_MS = 1_000;
/** If the final words come within this time, one look closes the page. A look takes one of a worker's 40 workflow tasks, so it is short. */
const LONGEST_LOOK_MS = 2_000;
/** The first look takes at most one eighth of the settle time, because polls begin after a quarter of it. */
const LOOK_SHARE = 8;

/**
 * Waits until every invoice of the page has its final word, or its time is over, and closes the page. The ledger is the
 * truth: signals only make the page read it earlier. Returns the number of accepted invoices without a final word.
 */
async function waitForFinalWords(input: PageInput, run: PageRun, { ending, spent }: SendingEnd): Promise<number> {
  const { ledgerId, batchId, page, fencingToken, settings } = input;
  const { settleMs } = settings;
  const { control, settled } = run;
  const scope = { ledgerId, batchId, page, settleMs };
  const closing = { ...scope, fencingToken, ending, waitedFor: spent.waitedFor };
  const waitingSince = spent.waitingSince ?? Date.now();
  // The other batch may take its whole time for sending, and then its settle time.
  const attachedUntil = waitingSince + settings.sendMs + settings.patienceMs + settleMs;
  // An operator's request to poll now does not concern a page that began after the request.
  let asked = input.control.settleNow;
  // A page that has sent all of its invoices first looks whether their final words have come. If null, it does not look.
  let lookMs = ending === 'sent' ? Math.min(LONGEST_LOOK_MS, settleMs / LOOK_SHARE) : null;
  for (const nextReread = growingWait({ firstMs: FIRST_REREAD_MS, began: waitingSince }); ;) {
    // Clears before it reads the ledger, so that a signal that comes meanwhile may count twice, but is never missed.
    settled.clear();
    const look = lookMs === null ? null : await lookOnce(closing, lookMs);
    if (look?.isClosed === true) return 0;
    if (historyIsLong() && control().settleNow === asked) await beginAgain(input, run, { ...spent, waitingSince });
    const wanted = control().settleNow;
    const review = wanted > asked ? await pollNow({ ...scope, askNow: true }) : (look ?? (await reviewPage(scope)));
    asked = wanted;
    const { accepted, attached } = review;
    const settleOver = accepted === 0 || review.settleEndsInMs === 0;
    // Another batch's sending ends by itself, with its own send time, patience and settle time. If its run has died,
    // this wait ends anyway.
    const attachedOver = attached === 0 || control().cancelled || Date.now() >= attachedUntil;
    if (settleOver && attachedOver) {
      await closePage(closing);
      return accepted;
    }
    const spans = [nextReread(), review.nextAskInMs, settleOver ? null : review.settleEndsInMs];
    const wait = Math.min(...spans.filter((span) => span !== null));
    const isAsked = (): boolean => control().settleNow > asked;
    const isSettled = (): boolean => settled.size >= accepted + attached;
    await waitAtMost(Math.max(wait, SHORTEST_REREAD_MS), {
      summary: 'waiting for final answers',
      until: () => isSettled() || isAsked(),
    });
    lookMs = ending === 'sent' && isSettled() && !isAsked() ? 0 : null;
  }
}

/**
 * Closes the page if it waits for nothing now or within `waitMs`. Returns null if a review is needed instead: a review
 * polls what is due, and waits for a ledger that is away.
 */
async function lookOnce(closing: CloseInput, waitMs: number): Promise<PageLook | null> {
  try {
    const look = await lookAtPage({ ...closing, waitMs });
    return look.isReviewDue ? null : look;
  } catch {
    log.info('the page could not be looked at, and is reviewed', { page: closing.page });
    return null;
  }
}
