import { continueAsNew, getExternalWorkflowHandle, workflowInfo } from '@temporalio/workflow';
import {
  controlSignal,
  pageSentSignal,
  settledSignal,
  type PageControl,
  type PageInput,
  type PageResult,
  type PageSpent,
} from '../src/domain/messages/messages.ts';
import { onSignal, requireOwnInput } from './typed-by-hand.ts';
import { waitForFinalWords } from './page/final-words.ts';
import { PageSender, type PageRun } from './page/page-sending.ts';

/**
 * Runs one page of a batch: send its slices -> wait for final words -> poll pending invoices -> close. Every page ends.
 * A page that waits for days begins again in further runs, under the same id and for the same batch: the ledger knows
 * what is left to do. Signals that come between two runs reach the second.
 */
export async function invoicePage(input: PageInput): Promise<PageResult> {
  requireOwnInput('invoicePage', input, OWN_INPUT);
  const run: PageRun = { ...listen(input), notifyParent, beginAgain };
  const sent = await new PageSender(input, run).send();
  // Comes before the wait: a command that is issued during a local activity leaves only when the activity ends.
  await notifyParent(pageSentSignal.name, { page: input.page });
  return { unsettled: await waitForFinalWords(input, run, sent) };

  function beginAgain(spent: PageSpent): Promise<never> {
    return continueAsNew<typeof invoicePage>({ ...input, control: run.control(), spent });
  }
}

const CONTROL = { paused: false, cancelled: false, outageOver: false, settleNow: 0 };
const OWN_INPUT = {
  ...{ ledgerId: '', batchId: '', page: 1, firstOrdinal: 1, lastOrdinal: 1, control: CONTROL },
  settings: { sliceSize: 1, settleMs: 0, sendMs: 0, patienceMs: 0 },
};

/** Registers the handlers before the first await. */
function listen(input: PageInput): Pick<PageRun, 'control' | 'settled'> {
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

/** Signals the present run of the parent, because a person may have reset the run that started this page. A parent that is gone needs no signal. */
async function notifyParent(signal: string, ...args: readonly unknown[]): Promise<void> {
  const { parent } = workflowInfo();
  if (parent === undefined) return;
  const latest = getExternalWorkflowHandle(parent.workflowId);
  await latest.signal(signal, ...args).catch(() => undefined);
}
