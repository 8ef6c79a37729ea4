import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { temporal } from '@temporalio/proto';
import { NativeConnection, Worker } from '@temporalio/worker';
import { describe, expect, inject, it } from 'vitest';
import type { PageReview } from '../../../activities/settling/settle.ts';
import type { SliceResult } from '../../../activities/sending/slice.ts';
import { LONGEST_SLICE_MS } from '../../../src/contract/longest-slice.ts';
import type { PageInput, PageResult } from '../../../src/contract/messages.ts';
import { ownName } from '../../support/files/batch-file.ts';

const { EventType } = temporal.api.enums.v1;

const SEND_MS = 4_000;

interface Sent {
  readonly ending: string | undefined;
  /** Types of the history's events, in order. */
  readonly events: readonly string[];
}

/** The page's workflow alone: what a slice says and how long it takes, and when a worker takes it, is the test's. */
async function sendingOf(slices: readonly SliceResult[], nobodyForMs: number, sliceTakesMs = 0): Promise<Sent> {
  const [name, address] = [ownName('send-time'), inject('temporalAddress')];
  const connection = await NativeConnection.connect({ address });
  const client = new Client({ connection: await Connection.connect({ address }) });
  const notified = [...slices];
  const closed: { readonly ending: string }[] = [];
  const events: string[] = [];
  const activities = {
    submitSlice: async (): Promise<SliceResult> => {
      const slice = notified.shift();
      if (slice === undefined) return { accepted: 3, left: 0, stop: false, triedMs: 1, waiting: null };
      await sleep(sliceTakesMs);
      return slice;
    },
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
      const history = await handle.fetchHistory();
      for (const { eventType } of history.events ?? []) events.push(EventType[eventType ?? 0] ?? '');
    });
  } finally {
    await client.connection.close();
    await connection.close();
  }
  return { ending: closed[0]?.ending, events };
}

function nothingAccepted(triedMs: number): SliceResult {
  return { accepted: 0, left: 3, stop: false, triedMs, waiting: null };
}

/** A slice that was cut off: it starts nothing after a minute. */
const CUT: SliceResult = { accepted: 2, left: 1, stop: false, triedMs: LONGEST_SLICE_MS, waiting: null };
const TIMER = 'EVENT_TYPE_TIMER_STARTED';

describe('the send time', { concurrent: true }, () => {
  it('does not count the time in which nobody could send', async () => {
    expect(await sendingOf([nothingAccepted(10)], SEND_MS + 2_000)).toMatchObject({ ending: 'sent' });
  });

  it('counts the time in which slices were tried', async () => {
    expect(await sendingOf([nothingAccepted(SEND_MS)], 0)).toMatchObject({ ending: 'send-time' });
  });

  it('passes without a pause after a slice that had no time for all of its invoices', async () => {
    const { ending, events } = await sendingOf([CUT], 0, LONGEST_SLICE_MS);

    expect(ending).toBe('sent');
    expect(events.filter((type) => type === TIMER)).toEqual([]);
  });

  it('passes with a pause before an invoice that was put off is sent again', async () => {
    const { events } = await sendingOf([CUT], 0);

    expect(events.filter((type) => type === TIMER)).toHaveLength(1);
  });
});
