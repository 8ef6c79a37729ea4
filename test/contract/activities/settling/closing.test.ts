import { describe, expect, it } from 'vitest';
import { closePage } from '../../../../activities/settling/settle.ts';
import { finishBatch } from '../../../../activities/batch/finish.ts';
import { freezeBodies } from '../../../../activities/sending/frozen-supply.ts';
import { refreshSnapshot, snapshotOf, runningBatch } from '../../../../activities/batch/running-batch.ts';
import { invoiceOf, NIF, NOW, REASON, validInvoice, type TestBatch } from '../../ledger/scenario.ts';
import { activityPlaces, DESK, outcomesOf, sentBatch, type ActivityPlace } from '../activity-place.ts';
import { acceptances, rejections } from '../sending/accepted-batch.ts';

const placeOf = activityPlaces();

describe('the end of a page', () => {
  const page = { page: 1, settleMs: 900_000, waitedFor: null } as const;

  it.each([
    [
      'an operator cancelled it',
      { ending: 'cancelled' },
      {
        code: 'batch-cancelled',
        message: 'An operator cancelled what was not sent yet. Run the file again, or retry the batch, to send it.',
      },
    ],
    [
      'the service was away for too long',
      { ending: 'outage', waitedFor: 'http-503' },
      {
        code: 'service-away',
        message:
          'Not sent: the service could not be used for longer than LOTE_OUTAGE_PATIENCE (http-503). lote status says what does not fit. Drop the file again to send it.',
      },
    ],
  ] as const)('gives what was not sent the reason why: %s', async (_, ending, reason) => {
    const place = placeOf();
    const batch = await place.scenario.run([{ ref: 'A' }]);

    await closePage(place.deps, { ...page, ledgerId: place.deps.ledger.id, batchId: batch.batchId, ...ending });

    expect(await batch.line('A')).toMatchObject({ state: 'held', reason });
  });

  it('touches its own page only', async () => {
    const place = placeOf();
    const batch = await place.scenario.run([{ ref: 'A' }, { ref: 'B' }], 1);

    await closePage(place.deps, {
      ...{ ledgerId: place.deps.ledger.id, batchId: batch.batchId, ...page },
      ...{ page: 2, ending: 'cancelled' },
    });

    expect([(await batch.line('A')).state, (await batch.line('B')).state]).toEqual(['staged', 'held']);
  });

  it('calls unsettled what has waited for its whole settle time, and not a millisecond before', async () => {
    const place = placeOf();
    const batch = await sentBatch(place, acceptances(place, 1), 0);
    const close = () =>
      closePage(place.deps, { ledgerId: place.deps.ledger.id, batchId: batch.batchId, ...page, ending: 'sent' });

    place.later(899_999);
    await close();
    const early = await outcomesOf(place, batch.batchId);
    place.later(1);
    await close();

    expect(early).toEqual({ accepted: 1 });
    expect(await batch.line('R0')).toMatchObject({ state: 'unsettled', reason: { code: 'no-final-answer' } });
  });
});

describe('the end of a batch', () => {
  it.each([
    [false, 'finished', 'not-sent', 'The batch ended before this invoice was sent. Drop the file again to send it.'],
    [
      true,
      'cancelled',
      'batch-cancelled',
      'An operator cancelled what was not sent yet. Run the file again, or retry the batch, to send it.',
    ],
  ] as const)(
    'cancelled %s: it is %s, and what no page has sent is held as %s',
    async (cancelled, state, code, message) => {
      const place = placeOf();
      const batch = await place.scenario.run([{ ref: 'A' }]);

      await finishBatch(place.deps, { ledgerId: place.deps.ledger.id, batchId: batch.batchId, cancelled, actions: [] });

      expect(await batch.line('A')).toMatchObject({ state: 'held', reason: { code, message } });
      expect(await batch.record()).toMatchObject({ state, finishedAt: NOW });
      expect(place.logged).toEqual([]);
    },
  );

  it('closes what a failed page left on the wire, and says how many', async () => {
    const place = placeOf();
    const batch = await sentBatch(place, acceptances(place, 2), 0);

    const { batchId } = batch;
    await finishBatch(place.deps, { ledgerId: place.deps.ledger.id, batchId, cancelled: false, actions: [] });

    expect(await outcomesOf(place, batch.batchId)).toEqual({ unsettled: 2 });
    expect((await batch.line('R1')).reason).toEqual({
      code: 'page-failed',
      message:
        'The page of this invoice ended before the final answer of the service. Reconciliation goes on asking where that cannot make a second invoice, unless the batch is stopped.',
    });
    expect(place.logged).toEqual([
      { level: 'warn', message: 'a failed page left invoices open', fields: { batchId, invoices: 2 } },
    ]);
  });
});

describe('what a process had to send of a batch that an operator had stopped, by the ledger alone', () => {
  async function stoppedBatch(place: ActivityPlace, order: 'paused' | 'cancelled'): Promise<TestBatch> {
    const batch = await place.scenario.run([{ ref: 'A' }, { ref: 'B' }]);
    await batch.freeze('A');
    const { workflowId, runId } = await batch.record();
    const run = { batchId: batch.batchId, workflowId, runId, version: 1 };
    await place.deps.ledger.recordControl({ ...run, paused: order === 'paused', cancelled: order === 'cancelled' });
    return batch;
  }

  function closed({ deps }: ActivityPlace, { batchId }: TestBatch): Promise<unknown> {
    const page = { page: 1, settleMs: 900_000, ending: 'send-time', waitedFor: null } as const;
    return closePage(deps, { ledgerId: deps.ledger.id, batchId, ...page });
  }

  function finished({ deps }: ActivityPlace, { batchId }: TestBatch): Promise<unknown> {
    return finishBatch(deps, { ledgerId: deps.ledger.id, batchId, cancelled: false, actions: [] });
  }

  it.each([
    ['paused', 'page', closed],
    ['cancelled', 'page', closed],
    ['paused', 'batch', finished],
    ['cancelled', 'batch', finished],
  ] as const)('%s: waits for a person when the %s ends', async (order, _, end) => {
    const place = placeOf();
    const batch = await stoppedBatch(place, order);

    await end(place, batch);

    expect(await batch.line('A')).toMatchObject({ state: 'unknown' });
    expect((await batch.record()).stopped).toMatchObject({ what: order });
    expect(await batch.line('B')).toMatchObject({ state: 'held' });
  });

  it('is repeated by the schedule when the batch was resumed', async () => {
    const place = placeOf();
    const batch = await stoppedBatch(place, 'paused');
    const { workflowId, runId } = await batch.record();
    const run = { batchId: batch.batchId, workflowId, runId, version: 2 };
    await place.deps.ledger.recordControl({ ...run, paused: false, cancelled: false });

    await closed(place, batch);

    expect(await batch.line('A')).toMatchObject({ state: 'unknown', reason: { code: 'no-final-answer' } });
  });
});

describe('a batch that ends with nothing open', () => {
  it('leaves nothing waiting when a file that is refused gives an invoice up in that moment', async () => {
    const { deps, scenario } = placeOf();
    const owner = await scenario.run([{ ref: 'A' }]);
    const heir = await scenario.run([{ ref: 'A' }]);
    await deps.ledger.holdUnsent(owner.batchId, { reason: REASON, now: NOW });
    await owner.finish();
    const third = await scenario.begin();
    const ledger = {
      ...deps.ledger,
      async countOutcomes(batchId: string) {
        const counts = await deps.ledger.countOutcomes(batchId);
        await deps.ledger.stageInvoices(third, [validInvoice(scenario.application, invoiceOf({ ref: 'A' }), 1)], NOW);
        await deps.ledger.refuseBatch(third, { rows: 0, fileFindings: [], proof: {}, now: NOW });
        return counts;
      },
    };

    const end = { ledgerId: ledger.id, batchId: heir.batchId, fencingToken: heir.fencingToken };
    await finishBatch({ ...deps, ledger }, { ...end, cancelled: false, actions: [] });

    expect(await heir.record()).toMatchObject({ state: 'finished' });
    expect(await heir.line('A')).toMatchObject({ state: 'held', reason: { code: 'not-sent' } });
  });
});

describe('the bytes of a request', () => {
  it('are written down before they are sent, and never built again', async () => {
    const place = placeOf();
    const batch = await place.scenario.run([{ ref: 'A' }]);
    await place.deps.ledger.saveMerchants(place.scenario.application, [{ nif: NIF, merchantId: 'mrc_1' }]);

    const first = await freezeBodies(place.deps, batch.batchId, await batch.sendable());
    const service = { ...place.deps.service, invoiceBody: () => 'another body' };
    const [sending] = await batch.sendable();
    const second = await freezeBodies({ ...place.deps, service }, batch.batchId, await batch.sendable());

    expect([...first.values()]).toEqual(['{"ref":"A","merchantId":"mrc_1"}']);
    expect(sending).toMatchObject({ state: 'sending', body: '{"ref":"A","merchantId":"mrc_1"}' });
    expect([...second]).toEqual([...first]);
  });
});

describe('how a batch stands', () => {
  it('is counts, exact nets by currency, and what went wrong by reason, without a name', async () => {
    const place = placeOf();
    const batch = await sentBatch(place, [...rejections(2), ...acceptances(place, 1)], 1);

    const standing = await snapshotOf(place.deps, batch.batchId);

    expect(standing).toMatchObject({
      ...{ at: NOW, counts: { rejected: 2, accepted: 1, staged: 1 }, problems: 2 },
      net: [{ currency: 'EUR', all: '84', out: '0' }],
    });
    expect(JSON.stringify(standing)).not.toMatch(/R\d|Maria/u);
  });
});

describe('the last word of an operator', () => {
  it.each([
    ['a resume', false, 'running', true],
    ['a pause', true, 'paused', false],
  ])('that the ledger has lost, %s, is written again by the next look', async (_, paused, state, maySend) => {
    const place = placeOf();
    const batch = await place.scenario.run([{ ref: 'A' }]);
    const { batchId, workflowId, runId } = await batch.record();
    const control = { batchId, workflowId, runId, cancelled: false };
    // What a standby holds that was promoted before the last word came to it.
    await place.deps.ledger.recordControl({ ...control, version: 1, paused: !paused });

    await refreshSnapshot(place.deps, {
      ...{ ledgerId: place.deps.ledger.id, batchId, actions: [] },
      control: { ...control, version: 2, paused },
    });

    expect((await batch.record()).state).toBe(state);
    expect((await place.deps.ledger.sendingBatches([batchId])).length > 0).toBe(maySend);
  });
});

describe('what a run needs to know of its batch', () => {
  it('is the pages with something to do, the last one as long as it is', async () => {
    const place = placeOf({ settings: { sliceSize: 7, settleMs: 1, sendMs: 2, patienceMs: 3 } });
    const batch = await place.scenario.run([{ ref: 'A' }, { ref: 'B' }, { ref: 'C' }], 2);
    await place.deps.ledger.holdUnsent(batch.batchId, { reason: REASON, page: 1, now: NOW });

    expect(await runningBatch(place.deps, await batch.record())).toMatchObject({
      ...{ kind: 'running', ledgerId: place.deps.ledger.id, batchId: batch.batchId, invoices: 3 },
      pages: [{ page: 2, firstOrdinal: 3, lastOrdinal: 3 }],
      settings: { sliceSize: 7, settleMs: 1, sendMs: 2, patienceMs: 3 },
      ...{ desk: DESK, standing: { at: NOW, counts: { held: 2, staged: 1 }, problems: 2 } },
    });
  });
});
