import {
  continueAsNew,
  proxyActivities,
  getExternalWorkflowHandle,
  isCancellation,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import {
  controlSignal,
  pageSentSignal,
  settledSignal,
  type PageControl,
  type PageInput,
  type PageResult,
  type PageSpent,
} from '../src/domain/messages/messages.ts';
import * as options from './activity-options.ts';
import { onSignal, requireOwnInput } from './typed-by-hand.ts';
import { waitForFinalWords, lookForLastWord } from './page/final-words.ts';
import { PageSender } from './page/page-sending.ts';

const { closePage } = proxyActivities<Activities>({ ...options.BOOKKEEPING, summary: 'closing the page' });

/**
 * Runs one page of a batch: send its slices -> wait for final words -> poll pending invoices -> close. Every page ends.
 * A page that waits for days begins again in further runs, under the same id and for the same batch: the ledger knows
 * what is left to do. Signals that come between two runs reach the second.
 */
export async function invoicePage(input: PageInput): Promise<PageResult> {
  requireOwnInput('invoicePage', input, OWN_INPUT);
  const { ledgerId, batchId, fencingToken, page, settings } = input;
  const { control, settled } = listen(input);

  const { ending, spent } = await new PageSender(input, { control, notifyParent, beginAgain }).send();
  const sent = { ending, waitedFor: spent.waitedFor };
  // Comes first, because commands beside a local activity leave only at its end.
  await notifyParent(pageSentSignal.name, { page });
  const looked = ending === 'sent' ? await lookForLastWord(input, sent) : undefined;
  if (looked?.isClosed === true) return { unsettled: 0 };
  const waitingSince = spent.waitingSince ?? Date.now();
  const { unsettled, isClosed } = await waitForFinalWords(input, {
    ...{ control, settled, sent, looked, waitingSince },
    beginAgain: () => beginAgain({ ...spent, waitingSince }),
  });
  if (!isClosed) await closePage({ ledgerId, batchId, page, fencingToken, settleMs: settings.settleMs, ...sent });
  return { unsettled };

  function beginAgain(spent: PageSpent): Promise<never> {
    return continueAsNew<typeof invoicePage>({ ...input, control: control(), spent });
  }
}

const CONTROL = { paused: false, cancelled: false, outageOver: false, settleNow: 0 };
const OWN_INPUT = {
  ...{ ledgerId: '', batchId: '', page: 1, firstOrdinal: 1, lastOrdinal: 1, control: CONTROL },
  settings: { sliceSize: 1, settleMs: 0, sendMs: 0, patienceMs: 0 },
};

/** Registers the handlers before the first await. */
function listen(input: PageInput): { readonly control: () => PageControl; readonly settled: Set<number> } {
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

/**
 * Signals the run that started this one, or its continuation: a reset run has another run id, under which it gets the
 * ends of the children that it has left. A parent that is gone needs no signal.
 */
async function notifyParent(signal: string, ...args: readonly unknown[]): Promise<void> {
  const { parent } = workflowInfo();
  if (parent === undefined) return;
  try {
    await getExternalWorkflowHandle(parent.workflowId, parent.runId).signal(signal, ...args);
  } catch (error) {
    if (isCancellation(error)) return;
    await getExternalWorkflowHandle(parent.workflowId)
      .signal(signal, ...args)
      .catch(() => undefined);
  }
}
