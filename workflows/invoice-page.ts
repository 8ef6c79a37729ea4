import {
  continueAsNew,
  getExternalWorkflowHandle,
  proxyActivities,
  setHandler,
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
  type PageSending,
  type PageWaiting,
} from '../src/contract/messages.ts';
import * as options from './activity-options.ts';
import { waitForFinalWords } from './page/final-words.ts';
import { sendPage, type SendingEnd } from './page/page-sending.ts';

const { closePage } = proxyActivities<Activities>({ ...options.BOOKKEEPING, summary: 'closing the page' });

/**
 * One page of a batch: send its slices -> wait for final words -> poll pending invoices -> close. Every page ends. A
 * page that waits for days goes on in further runs, under the same id and for the same batch; signals that come between
 * two runs reach the second.
 */
export async function invoicePage(input: PageInput): Promise<PageResult> {
  const { ledgerId, batchId, fencingToken, page, settings } = input;
  const { control, settled } = listen(input);

  const sent = input.goOn?.phase === 'waiting' ? endOf(input.goOn) : await send();
  const review = await waitForFinalWords(input, { control, settled, sent, goOn });
  await closePage({ ledgerId, batchId, page, fencingToken, settleMs: settings.settleMs, ...sent });
  return { unsettled: review.accepted };

  async function send(): Promise<SendingEnd> {
    const end = await sendPage(input, { control, notifyParent, goOn });
    await notifyParent(pageSentSignal.name, { page });
    return end;
  }

  function goOn(from: PageSending | PageWaiting): Promise<never> {
    return continueAsNew<typeof invoicePage>({ ...input, control: control(), goOn: from });
  }
}

/** Registers the handlers before the first await. */
function listen(input: PageInput): { readonly control: () => PageControl; readonly settled: Set<number> } {
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
  return { control: () => control, settled };
}

function endOf({ ending, waitedFor }: SendingEnd): SendingEnd {
  return { ending, waitedFor };
}

/** Signals the parent; a parent that is gone needs no signal. */
async function notifyParent(signal: string, ...args: readonly unknown[]): Promise<void> {
  const parent = workflowInfo().parent;
  if (parent === undefined) return;
  try {
    await getExternalWorkflowHandle(parent.workflowId, parent.runId).signal(signal, ...args);
  } catch {
    // Closed meanwhile: the ledger has everything that matters.
  }
}
