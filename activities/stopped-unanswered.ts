import type { Reason } from '../src/domain/invoice.ts';
import { CANCELLED_UNANSWERED } from '../src/domain/retry-decision.ts';
import { commandLine, type CommandReader } from '../src/domain/text/command-line.ts';
import type { ActivityDeps } from './deps.ts';
import { isStoppedInLedger } from './stopped-in-ledger.ts';

/** What stopped a batch while a process had an invoice of it to send. */
export type BatchStop = 'cancelled' | 'stopped' | 'run-ended' | 'held';

const STOPS: Record<BatchStop, string> = {
  cancelled: 'An operator cancelled the batch while a process had this invoice to send',
  stopped: 'An operator had paused or cancelled the batch while a process had this invoice to send',
  'run-ended': 'The run of this batch ended while a process had this invoice to send',
  held: 'The file was started again and is held, while a process of an earlier run had this invoice to send',
};

/** How the file is dropped so that it is sent. Held once, it would be held again if nothing were different. */
const DROPPED_AGAIN: Record<BatchStop, string> = {
  cancelled: 'drop the file again',
  stopped: 'drop the file again',
  'run-ended': 'drop the file again',
  held: 'drop the file again as it was read first, without what holds it now',
};

/**
 * Reason of an invoice that a process had to send and of which no answer is known: the process has died, and with it what is known of its POST. A repeat
 * may be the first POST, so that only a person orders it.
 */
export function stoppedUnanswered(reader: CommandReader, stop: BatchStop): Reason {
  const message =
    `${STOPS[stop]}, and no answer is known: it may have been sent. ` +
    `It is not repeated by itself. To send it, or to find out with the same key, use ${commandLine(reader, 'reconcile')}, or ${DROPPED_AGAIN[stop]}.`;
  return { code: CANCELLED_UNANSWERED, message };
}

/**
 * The same for a page or batch that is closed; undefined: nobody has stopped it. Its run may not know of what an operator ordered, so that the ledger counts,
 * too. Ask before the batch is closed.
 */
export async function unansweredAtClose(
  deps: Pick<ActivityDeps, 'ledger'> & CommandReader,
  { batchId, cancelled }: { readonly batchId: string; readonly cancelled: boolean },
): Promise<Reason | undefined> {
  if (cancelled) return stoppedUnanswered(deps, 'cancelled');
  return (await isStoppedInLedger(deps.ledger, batchId)) ? stoppedUnanswered(deps, 'stopped') : undefined;
}
