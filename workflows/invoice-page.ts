import { continueAsNew, proxyActivities, setHandler } from '@temporalio/workflow';
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
import { hasPatch } from './has-patch.ts';
import { notifyParent } from './notify-parent.ts';
import { hasForm, isOrdinal, onlyOf } from './typed-by-hand.ts';
import { waitForFinalWords, type PageWait } from './page/final-words.ts';
import { lookForLastWord } from './page/last-word.ts';
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

  const { sent, looked } =
    input.goOn?.phase === 'waiting' ? { sent: endOf(input.goOn), looked: undefined } : await send();
  if (looked?.isClosed === true) return { unsettled: 0 };
  const { unsettled, isClosed } = await waitForFinalWords(input, { control, settled, sent, looked, goOn });
  if (!isClosed) await closePage({ ledgerId, batchId, page, fencingToken, settleMs: settings.settleMs, ...sent });
  return { unsettled };

  async function send(): Promise<Pick<PageWait, 'sent' | 'looked'>> {
    const sent = await sendPage(input, { control, notifyParent, goOn });
    const notifySent = (): Promise<void> => notifyParent(pageSentSignal.name, { page });
    if (sent.ending === 'sent' && hasPatch('look-for-the-last-word'))
      return { sent, looked: await lookForLastWord(input, { sent, notifySent }) };
    await notifySent();
    return { sent, looked: undefined };
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
    onlyOf(settledSignal.name, isSettled, ({ ordinals }) => {
      for (const ordinal of ordinals) settled.add(ordinal);
    }),
    { description: '(internal) {"ordinals": [1]} These invoices came to rest.' },
  );
  setHandler(
    controlSignal,
    onlyOf(controlSignal.name, isControl, (next) => {
      control = next;
    }),
    { description: '(internal) What an operator told the batch. Pause and cancel the batch, not its pages.' },
  );
  return { control: () => control, settled };
}

function isSettled(value: unknown): value is { ordinals: number[] } {
  const areOrdinals = (ordinals: unknown): boolean => Array.isArray(ordinals) && ordinals.every(isOrdinal);
  return hasForm<{ ordinals: number[] }>(value, { ordinals: areOrdinals });
}

function isControl(value: unknown): value is PageControl {
  const isFlag = (flag: unknown): boolean => typeof flag === 'boolean';
  return hasForm<PageControl>(value, { paused: isFlag, cancelled: isFlag, outageOver: isFlag, settleNow: isOrdinal });
}

function endOf({ ending, waitedFor }: SendingEnd): SendingEnd {
  return { ending, waitedFor };
}
