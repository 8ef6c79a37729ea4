import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { temporal } from '@temporalio/proto';
import { NativeConnection, Worker } from '@temporalio/worker';
import { describe, expect, inject, it } from 'vitest';
import type { SliceResult } from '../../../activities/sending/slice-sender.ts';
import type { LookInput, PageLook, PageReview } from '../../../activities/settling/settle.ts';
import { LONGEST_SLICE_MS, type PageInput, type PageResult } from '../../../src/domain/messages/messages.ts';
import { ownName } from '../../support/files/batch-file.ts';

const { EventType } = temporal.api.enums.v1;

const SEND_MS = 4_000;
const ALL_SENT: SliceResult = { accepted: 3, left: 0, stop: false, triedMs: 1, waiting: null };
const REVIEWED: PageReview = { accepted: 0, attached: 0, nextAskInMs: null, settleEndsInMs: null };
const CLOSED: PageLook = { ...REVIEWED, isClosed: true, isReviewDue: false };
const OPEN: PageLook = { ...CLOSED, accepted: 3, settleEndsInMs: 600_000, isClosed: false };

interface Script {
  /** What slices say, and how long each takes; all is sent by the one after them. */
  readonly slices?: readonly SliceResult[];
  readonly sliceTakesMs?: number;
  /** For so long no worker takes what the page orders: as while Temporal or the workers are away. */
  readonly nobodyForMs?: number;
  /** What looks say; all is called settled after one that finds the page open. */
  readonly looks?: readonly (PageLook | Error)[];
}

/** What one run of a page ordered, how it ended, and the types of its history's events, in order. */
interface PageRun {
  readonly ordered: readonly string[];
  readonly ending: string | undefined;
  readonly result: PageResult;
  readonly events: readonly string[];
}

/** The page's workflow alone. */
async function runPage({ slices = [], sliceTakesMs = 0, nobodyForMs = 0, looks }: Script): Promise<PageRun> {
  const [name, address] = [ownName('page-alone'), inject('temporalAddress')];
  const connection = await NativeConnection.connect({ address });
  const client = new Client({ connection: await Connection.connect({ address }) });
  const ordered: string[] = [];
  const endings: string[] = [];
  const [slicesLeft, looksLeft] = [[...slices], [...(looks ?? [])]];
  const activities = {
    async submitSlice(): Promise<SliceResult> {
      const slice = slicesLeft.shift();
      if (slice !== undefined) await sleep(sliceTakesMs);
      return slice ?? ALL_SENT;
    },
    async reviewPage(): Promise<PageReview> {
      ordered.push('review');
      return REVIEWED;
    },
    async closePage({ ending }: { readonly ending: string }) {
      ordered.push('close');
      endings.push(ending);
    },
    ...(looks !== undefined && {
      async lookAtPage({ waitMs }: LookInput): Promise<PageLook> {
        ordered.push(waitMs > 0 ? 'wait and look' : 'look');
        const look = looksLeft.shift() ?? CLOSED;
        if (look instanceof Error) throw look;
        if (!look.isClosed) await client.workflow.getHandle(name).signal('settled', { ordinals: [1, 2, 3] });
        return look;
      },
    }),
  };
  const input: PageInput = {
    ...{ fencingToken: 1, run: { workflowId: 'w', runId: 'r' } },
    ...{ ledgerId: 'l', batchId: 'b', page: 1, firstOrdinal: 1, lastOrdinal: 3 },
    settings: { sliceSize: 1_000, settleMs: 600_000, sendMs: SEND_MS, patienceMs: 60_000 },
    control: { paused: false, cancelled: false, outageOver: false, settleNow: 0 },
  };
  const backend = { connection, taskQueue: name };
  // Looks run where the workflow does. Without them it decides at one worker, and sends at another that comes later.
  const isOneWorker = looks !== undefined;
  try {
    const workflowBundle = { codePath: inject('workflowBundle') };
    const decider = await Worker.create({ ...backend, workflowBundle, ...(isOneWorker && { activities }) });
    return await decider.runUntil(async () => {
      const handle = await client.workflow.start<(input: PageInput) => Promise<PageResult>>('invoicePage', {
        ...{ workflowId: name, taskQueue: name, args: [input] },
      });
      await sleep(nobodyForMs);
      const sender = isOneWorker ? null : await Worker.create({ ...backend, activities });
      const result = await (sender?.runUntil(handle.result()) ?? handle.result());
      const { events } = await handle.fetchHistory();
      const types = (events ?? []).map(({ eventType }) => EventType[eventType ?? 0] ?? '');
      return { ordered, ending: endings[0], result, events: types };
    });
  } finally {
    await client.connection.close();
    await connection.close();
  }
}

function nothingAccepted(triedMs: number): SliceResult {
  return { accepted: 0, left: 3, stop: false, triedMs, waiting: null };
}

/** A slice that was cut off: it starts nothing after a minute. */
const CUT: SliceResult = { accepted: 2, left: 1, stop: false, triedMs: LONGEST_SLICE_MS, waiting: null };
const TIMER = 'EVENT_TYPE_TIMER_STARTED';

describe('the send time', { concurrent: true }, () => {
  it('does not count the time in which no slice could send', async () => {
    const slices = [nothingAccepted(10)];

    expect(await runPage({ slices, nobodyForMs: SEND_MS + 2_000 })).toMatchObject({ ending: 'sent' });
  });

  it('counts the time in which slices were tried', async () => {
    expect(await runPage({ slices: [nothingAccepted(SEND_MS)] })).toMatchObject({ ending: 'send-time' });
  });

  it('passes without a pause after a slice that had no time for all of its invoices', async () => {
    const { ending, events } = await runPage({ slices: [CUT], sliceTakesMs: LONGEST_SLICE_MS });

    expect(ending).toBe('sent');
    expect(events.filter((type) => type === TIMER)).toEqual([]);
  });

  it('passes with a pause before an invoice that was put off is sent again', async () => {
    const { events } = await runPage({ slices: [CUT] });

    expect(events.filter((type) => type === TIMER)).toHaveLength(1);
  });
});

describe('a page that has sent its last invoice', { concurrent: true }, () => {
  it.each([
    ['closed by one look that waits for its final words', [CLOSED], ['wait and look']],
    ['closed by another look when they come later', [OPEN, CLOSED], ['wait and look', 'look']],
    [
      'reviewed when a look finds something to ask the service',
      [{ ...OPEN, isReviewDue: true }],
      ['wait and look', 'review', 'close'],
    ],
    ['reviewed when it cannot be looked at', [new Error('the ledger is away')], ['wait and look', 'review', 'close']],
  ])('is %s', async (_, looks, ordered) => {
    const run = await runPage({ looks });

    expect(run.ordered).toEqual(ordered);
    expect(run.result).toEqual({ unsettled: 0 });
  });
});
