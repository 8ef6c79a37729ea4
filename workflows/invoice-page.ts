import {
  continueAsNew,
  getExternalWorkflowHandle,
  proxyActivities,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { PageReview } from '../activities/settling/settle.ts';
import * as options from './activity-options.ts';
import { historyIsLong } from './history-limit.ts';
import {
  controlSignal,
  pageSentSignal,
  settledSignal,
  type PageControl,
  type PageInput,
  type PageSending,
  type PageWaiting,
  type PageResult,
} from '../src/contract/messages.ts';
import { sendPage, type SendingEnd } from './page/page-sending.ts';
import { waitAtMost } from './wait-at-most.ts';

const { reviewPage } = proxyActivities<Activities>({
  ...options.SETTLE,
  summary: 'final words: what the ledger knows',
});
const { reviewPage: askNow } = proxyActivities<Activities>({
  ...options.SETTLE,
  summary: 'an operator wants every silent invoice asked for now',
});
const { closePage } = proxyActivities<Activities>({ ...options.BOOKKEEPING, summary: 'closing the page' });

/** A signal may be lost: re-read the ledger after 5, 10, 20 … 60 s of silence. */
const FIRST_REREAD_MS = 5_000;
const LONGEST_REREAD_MS = 60_000;
/** A wait of days: a twentieth of what it has lasted, up to a quarter of an hour. */
const LATER_SHARE = 20;
const LATEST_REREAD_MS = 15 * 60_000;
/** A GET that is due and got no answer is asked again by the next review, not at once. */
const SHORTEST_REREAD_MS = 1_000;

/**
 * One page of a batch: send its slices -> wait for final words -> ask for what stays silent -> close. Every page ends. One that waits for days goes
 * on in further runs, under the same id and for the same batch; signals that come between two runs reach the second.
 */
export async function invoicePage(input: PageInput): Promise<PageResult> {
  const { ledgerId, batchId, fencingToken, page, settings } = input;
  const { settleMs } = settings;
  const scope = { ledgerId, batchId, page };
  const settled = new Set<number>();
  let control: PageControl = input.control;
  setHandler(
    settledSignal,
    ({ ordinals }) => {
      for (const ordinal of ordinals) settled.add(ordinal);
    },
    { description: '(internal) {"ordinals": [1]} These invoices came to rest.' },
  );
  setHandler(
    controlSignal,
    (next) => {
      control = next;
    },
    { description: '(internal) What an operator told the batch. Pause and cancel the batch, not its pages.' },
  );

  const waiting = input.goOn?.phase === 'waiting' ? input.goOn : null;
  const { ending, waitedFor } = waiting ?? (await send());
  const review = await waitForFinalWords();
  await closePage({ ...scope, fencingToken, settleMs, ending, waitedFor });
  return { unsettled: review.accepted };

  async function send(): Promise<SendingEnd> {
    const sent = await sendPage(input, { control: () => control, notifyParent, goOn });
    await notifyParent(pageSentSignal.name, { page });
    return sent;
  }

  function goOn(from: PageSending | PageWaiting): Promise<never> {
    return continueAsNew<typeof invoicePage>({ ...input, control, goOn: from });
  }

  /** Signals are news; the ledger is re-read when enough of them came, or after a while without. */
  async function waitForFinalWords(): Promise<PageReview> {
    const since = waiting?.since ?? Date.now();
    const attachedUntil = waiting?.attachedUntil ?? since + settings.sendMs + settings.patienceMs + settleMs;
    // What was asked for before this page began does not concern it.
    let asked = waiting?.asked ?? input.control.settleNow;
    for (let reread = waiting?.rereadMs ?? FIRST_REREAD_MS; ; reread = laterReread(reread, since)) {
      if (historyIsLong())
        await goOn({ phase: 'waiting', ending, waitedFor, since, attachedUntil, asked, rereadMs: reread });
      // Cleared before the ledger is read: news that comes meanwhile may count twice, never be missed.
      settled.clear();
      const wanted = control.settleNow;
      const review =
        wanted > asked ? await askNow({ ...scope, settleMs, askNow: true }) : await reviewPage({ ...scope, settleMs });
      asked = wanted;
      const { accepted, attached } = review;
      const settleOver = accepted === 0 || review.settleEndsInMs === 0;
      // Another batch's sending ends by itself, with its own send time, patience and settle time; should its run have died, this one ends all the same.
      const attachedOver = attached === 0 || control.cancelled || Date.now() >= attachedUntil;
      if (settleOver && attachedOver) return review;
      const spans = [reread, review.nextAskInMs, settleOver ? null : review.settleEndsInMs];
      const wait = Math.min(...spans.filter((span) => span !== null));
      await waitAtMost(Math.max(wait, SHORTEST_REREAD_MS), {
        summary: 'waiting for final answers',
        until: () => settled.size >= accepted + attached || control.settleNow > asked,
      });
    }
  }

  /** A parent that is gone needs no news. */
  async function notifyParent(signal: string, ...args: readonly unknown[]): Promise<void> {
    const parent = workflowInfo().parent;
    if (parent === undefined) return;
    try {
      await getExternalWorkflowHandle(parent.workflowId, parent.runId).signal(signal, ...args);
    } catch {
      // Closed meanwhile: the ledger has everything that matters.
    }
  }
}

function laterReread(rereadMs: number, since: number): number {
  const longest = Math.max(LONGEST_REREAD_MS, (Date.now() - since) / LATER_SHARE);
  return Math.min(rereadMs * 2, longest, LATEST_REREAD_MS);
}
