import { Client, Connection } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { describe, expect, inject, it } from 'vitest';
import type { SliceResult } from '../../../activities/sending/slice.ts';
import type { LookInput, PageLook } from '../../../activities/settling/look-at-page.ts';
import type { PageReview } from '../../../activities/settling/settle.ts';
import type { PageInput, PageResult } from '../../../src/contract/messages.ts';
import { ownName } from '../../support/files/batch-file.ts';

const CLOSED: PageLook = {
  ...{ accepted: 0, attached: 0, nextAskInMs: null, settleEndsInMs: null },
  ...{ isClosed: true, isReviewDue: false },
};
const OPEN: PageLook = { ...CLOSED, accepted: 3, settleEndsInMs: 600_000, isClosed: false };

/** What one run of a page ordered, and its result. */
interface PageRun {
  readonly ordered: readonly string[];
  readonly result: PageResult;
}

/** The page's workflow alone. `looks` are what its looks say; all is called settled after one that finds the page open. */
async function runPage(looks: readonly (PageLook | Error)[]): Promise<PageRun> {
  const [name, address] = [ownName('last-word'), inject('temporalAddress')];
  const connection = await NativeConnection.connect({ address });
  const client = new Client({ connection: await Connection.connect({ address }) });
  const ordered: string[] = [];
  const left = [...looks];
  const activities = {
    submitSlice: async (): Promise<SliceResult> => ({ accepted: 3, left: 0, stop: false, triedMs: 1, waiting: null }),
    async lookAtPage({ waitMs }: LookInput): Promise<PageLook> {
      ordered.push(waitMs > 0 ? 'wait and look' : 'look');
      const look = left.shift() ?? CLOSED;
      if (look instanceof Error) throw look;
      if (!look.isClosed) await client.workflow.getHandle(name).signal('settled', { ordinals: [1, 2, 3] });
      return look;
    },
    async reviewPage(): Promise<PageReview> {
      ordered.push('review');
      return { accepted: 0, attached: 0, nextAskInMs: null, settleEndsInMs: null };
    },
    async closePage() {
      ordered.push('close');
    },
  };
  const input: PageInput = {
    ...{ ledgerId: 'l', batchId: 'b', page: 1, firstOrdinal: 1, lastOrdinal: 3 },
    settings: { sliceSize: 1_000, settleMs: 600_000, sendMs: 60_000, patienceMs: 60_000 },
    control: { paused: false, cancelled: false, outageOver: false, settleNow: 0 },
  };
  try {
    const workflowBundle = { codePath: inject('workflowBundle') };
    const worker = await Worker.create({ connection, taskQueue: name, activities, workflowBundle });
    const result = await worker.runUntil(
      client.workflow.execute<(input: PageInput) => Promise<PageResult>>('invoicePage', {
        ...{ workflowId: name, taskQueue: name, args: [input] },
      }),
    );
    return { ordered, result };
  } finally {
    await client.connection.close();
    await connection.close();
  }
}

describe('a page that has sent its last invoice', { concurrent: true }, () => {
  it('is closed by one look that waits for its final words', async () => {
    const { ordered, result } = await runPage([CLOSED]);

    expect(ordered).toEqual(['wait and look']);
    expect(result).toEqual({ unsettled: 0 });
  });

  it('is closed by another look when they come later', async () => {
    const { ordered } = await runPage([OPEN, CLOSED]);

    expect(ordered).toEqual(['wait and look', 'look']);
  });

  it('is reviewed when a look finds something to ask the service', async () => {
    const { ordered } = await runPage([{ ...OPEN, isReviewDue: true }]);

    expect(ordered).toEqual(['wait and look', 'review', 'close']);
  });

  it('is reviewed when it cannot be looked at', async () => {
    const { ordered } = await runPage([new Error('the ledger is away')]);

    expect(ordered).toEqual(['wait and look', 'review', 'close']);
  });
});
