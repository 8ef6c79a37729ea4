import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { describe, expect, inject, it } from 'vitest';
import type { PageReview } from '../../../activities/settling/settle.ts';
import type { SliceResult } from '../../../activities/sending/slice.ts';
import type { PageInput, PageResult } from '../../../src/contract/messages.ts';
import { ownName } from '../../support/files/batch-file.ts';

const SEND_MS = 4_000;

/** The page's workflow alone: what a slice says, and when a worker takes it, is the test's. */
async function endingOf(slices: readonly SliceResult[], nobodyForMs: number): Promise<unknown> {
  const [name, address] = [ownName('send-time'), inject('temporalAddress')];
  const connection = await NativeConnection.connect({ address });
  const client = new Client({ connection: await Connection.connect({ address }) });
  const notified = [...slices];
  const closed: { readonly ending: string }[] = [];
  const activities = {
    submitSlice: async (): Promise<SliceResult> =>
      notified.shift() ?? { accepted: 3, left: 0, stop: false, triedMs: 1, waiting: null },
    reviewPage: async (): Promise<PageReview> => ({
      accepted: 0,
      attached: 0,
      nextAskInMs: null,
      settleEndsInMs: null,
    }),
    closePage: async (input: { readonly ending: string }) => void closed.push(input),
  };
  const input: PageInput = {
    ...{ ledgerId: 'l', batchId: 'b', page: 1, firstOrdinal: 1, lastOrdinal: 3 },
    settings: { sliceSize: 1_000, settleMs: 60_000, sendMs: SEND_MS, patienceMs: 60_000 },
    control: { paused: false, cancelled: false, outageOver: false, settleNow: 0 },
  };
  const backend = { connection, taskQueue: name };
  try {
    // It decides, and nobody sends: as it is for whoever waits while Temporal or the workers are away.
    const decider = await Worker.create({ ...backend, workflowBundle: { codePath: inject('workflowBundle') } });
    await decider.runUntil(async () => {
      const handle = await client.workflow.start<(input: PageInput) => Promise<PageResult>>('invoicePage', {
        ...{ workflowId: name, taskQueue: name, args: [input] },
      });
      await sleep(nobodyForMs);
      const sender = await Worker.create({ ...backend, activities });
      await sender.runUntil(handle.result());
    });
  } finally {
    await client.connection.close();
    await connection.close();
  }
  return closed[0]?.ending;
}

function nothingAccepted(triedMs: number): SliceResult {
  return { accepted: 0, left: 3, stop: false, triedMs, waiting: null };
}

describe('the send time', { concurrent: true }, () => {
  it('does not count the time in which nobody could send', async () => {
    expect(await endingOf([nothingAccepted(10)], SEND_MS + 2_000)).toBe('sent');
  });

  it('counts the time in which slices were tried', async () => {
    expect(await endingOf([nothingAccepted(SEND_MS)], 0)).toBe('send-time');
  });
});
