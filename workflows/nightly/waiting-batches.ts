import { condition, setHandler } from '@temporalio/workflow';
import type { FileEnd } from '../../activities/nightly/nightly-note.ts';
import { batchHeldSignal, batchPausedSignal, type UnusualTotal } from '../../src/contract/messages.ts';
import { hasPatch } from '../has-patch.ts';
import { hasForm, isOrdinal, isText, onlyOf } from '../typed-by-hand.ts';

/** Batches of a night that wait for somebody. */
export interface WaitingBatches {
  /** Paused ones that the night waits for: they use none of its places. */
  readonly paused: number;
  /**
   * The night waits for this batch. The first of these that is fulfilled is a reason not to: the batch is held until an operator has confirmed its total;
   * or it is paused, and nothing else is left to wait for, because a pause may be over before that.
   */
  begin(workflowId: string, isAllElseOver: () => boolean): readonly Promise<FileEnd | undefined>[];
  /** The night waits for it no more. */
  end(workflowId: string): void;
}

/** Registers the handlers before the first await. */
export function followWaitingBatches(): WaitingBatches {
  const held = new Map<string, FileEnd>();
  const paused = new Map<string, FileEnd>();
  const open = new Set<string>();
  const onHeld = onlyOf(
    batchHeldSignal.name,
    isHeld,
    ({ workflowId, batchId, unusual }) => void held.set(workflowId, { kind: 'held', batchId, ...unusual }),
  );
  setHandler(batchHeldSignal, onHeld, {
    description:
      '(internal) {"workflowId": "…", "batchId": "…", "unusual": {…}} A batch waits for its total to be confirmed.',
  });
  const onPaused = onlyOf(batchPausedSignal.name, isPaused, ({ workflowId, batchId }) => {
    if (batchId === null) paused.delete(workflowId);
    else paused.set(workflowId, { kind: 'paused', batchId });
  });
  setHandler(batchPausedSignal, onPaused, {
    description:
      '(internal) {"workflowId": "…", "batchId": "…"} An operator has paused a batch; null in place of its id: it goes on.',
  });
  return {
    get paused() {
      const count = [...open].filter((workflowId) => paused.has(workflowId)).length;
      return count > 0 && hasPatch('go-on-without-a-paused-file') ? count : 0;
    },
    begin(workflowId, isAllElseOver) {
      open.add(workflowId);
      return [
        condition(() => held.has(workflowId)).then(() => held.get(workflowId)),
        condition(() => paused.has(workflowId) && isAllElseOver()).then(() => paused.get(workflowId)),
      ];
    },
    end: (workflowId) => void open.delete(workflowId),
  };
}

interface Held {
  readonly workflowId: string;
  readonly batchId: string;
  readonly unusual: UnusualTotal;
}

function isHeld(value: unknown): value is Held {
  const isUnusual = (total: unknown): boolean =>
    hasForm<UnusualTotal>(total, { invoices: isOrdinal, difference: isText });
  return hasForm<Held>(value, { workflowId: isText, batchId: isText, unusual: isUnusual });
}

interface Paused {
  readonly workflowId: string;
  readonly batchId: string | null;
}

function isPaused(value: unknown): value is Paused {
  return hasForm<Paused>(value, {
    workflowId: isText,
    batchId: (batchId) => batchId === null || isText(batchId),
  });
}
