import { describe, expect, it } from 'vitest';
import { closePage } from '../../../../activities/settling/close-page.ts';
import { holdOverBudget, readBudget } from '../../../../activities/sending/budgets/failure-budget.ts';
import { finishBatch } from '../../../../activities/batch/finish.ts';
import { freezeBodies } from '../../../../activities/sending/freeze-bodies.ts';
import { refreshSnapshot, snapshotOf } from '../../../../activities/batch/refresh-snapshot.ts';
import { holdOverRetries } from '../../../../activities/sending/budgets/retry-budget.ts';
import { judgeCanary } from '../../../../activities/sending/judge-canary.ts';
import { withinRetention } from '../../../../activities/sending/retention-window.ts';
import { runningBatch } from '../../../../activities/batch/running-batch.ts';
import type { SendOutcome } from '../../../../src/domain/ports/ledger/sending-ledger.ts';
import {
  accepted,
  invoiceOf,
  NIF,
  NOW,
  REASON,
  serviceIdOf,
  validInvoice,
  type TestBatch,
} from '../../../contract/ledger/scenario.ts';
import { activityPlaces, DESK, outcomesOf, RETRY, sendFirst, type ActivityPlace } from '../activity-place.ts';

const placeOf = activityPlaces();
const HOUR_MS = 3_600_000;
const REJECTED: SendOutcome = { kind: 'rejected', reason: REASON };

async function batchOf(place: ActivityPlace, outcomes: readonly SendOutcome[], unsent = 1): Promise<TestBatch> {
  const texts = Array.from({ length: outcomes.length + unsent }, (_, at) => ({ ref: `R${at}` }));
  const batch = await place.scenario.run(texts, 1_000);
  await sendFirst(place, batch, outcomes);
  return batch;
}

function rejections(count: number): readonly SendOutcome[] {
  return Array.from({ length: count }, () => REJECTED);
}

function acceptances(place: ActivityPlace, count: number): readonly SendOutcome[] {
  return Array.from({ length: count }, (_, at) => accepted(serviceIdOf(place.scenario, `a${at}`)));
}

describe('the end of a page', () => {
  const page = { page: 1, settleMs: 900_000, waitedFor: null } as const;

  it.each([
    [
      'an operator cancelled it',
      { ending: 'cancelled' },
      {
        code: 'batch-cancelled',
        message: 'An operator cancelled what was not sent yet. Drop the file again to send it.',
      },
    ],
    [
      'the service was away for too long',
      { ending: 'outage', waitedFor: 'http-503' },
      {
        code: 'service-away',
        message:
          'Not sent: the service could not be reached for longer than LOTE_OUTAGE_PATIENCE (http-503). Drop the file again to send it.',
      },
    ],
    [
      'the service gave no answer at all',
      { ending: 'outage', waitedFor: null },
      {
        code: 'service-away',
        message:
          'Not sent: the service could not be reached for longer than LOTE_OUTAGE_PATIENCE. Drop the file again to send it.',
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
    const batch = await batchOf(place, acceptances(place, 1), 0);
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
      'An operator cancelled what was not sent yet. Drop the file again to send it.',
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
    const batch = await batchOf(place, acceptances(place, 2), 0);

    await finishBatch(place.deps, {
      ledgerId: place.deps.ledger.id,
      batchId: batch.batchId,
      cancelled: false,
      actions: [],
    });

    expect(await outcomesOf(place, batch.batchId)).toEqual({ unsettled: 2 });
    expect((await batch.line('R1')).reason).toEqual({
      code: 'page-failed',
      message:
        'The page of this invoice ended before the final answer of the service. Reconciliation goes on asking where that cannot make a second invoice.',
    });
    expect(place.logged).toEqual([
      { level: 'warn', message: 'a failed page left invoices open', fields: { batchId: batch.batchId, invoices: 2 } },
    ]);
  });
});

describe('the end of a batch with a failed page, of which a process had an invoice to send', () => {
  it.each([
    [true, 'cancelled-unanswered'],
    [false, 'page-failed'],
  ] as const)('cancelled %s: it is unknown as %s', async (cancelled, code) => {
    const place = placeOf();
    const batch = await place.scenario.run([{ ref: 'A' }]);
    await batch.freeze('A');

    await finishBatch(place.deps, { ledgerId: place.deps.ledger.id, batchId: batch.batchId, cancelled, actions: [] });

    expect(await batch.line('A')).toMatchObject({ state: 'unknown', reason: { code } });
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

  it.each(['paused', 'cancelled'] as const)('%s: waits for a person when the page ends', async (order) => {
    const place = placeOf();
    const batch = await stoppedBatch(place, order);

    await closePage(place.deps, {
      ...{ ledgerId: place.deps.ledger.id, batchId: batch.batchId, page: 1, settleMs: 900_000 },
      ...{ ending: 'send-time', waitedFor: null },
    });

    expect(await batch.line('A')).toMatchObject({ state: 'unknown', reason: { code: 'cancelled-unanswered' } });
    expect((await batch.line('A')).reason?.message).toMatch(/^An operator had paused or cancelled the batch while /);
    expect(await batch.line('B')).toMatchObject({ state: 'held' });
  });

  it.each(['paused', 'cancelled'] as const)('%s: waits for a person when the batch ends', async (order) => {
    const place = placeOf();
    const batch = await stoppedBatch(place, order);

    const end = { ledgerId: place.deps.ledger.id, batchId: batch.batchId, cancelled: false, actions: [] };
    await finishBatch(place.deps, { ...end, isFailed: true });

    expect(await batch.line('A')).toMatchObject({ state: 'unknown', reason: { code: 'cancelled-unanswered' } });
    expect(await batch.line('B')).toMatchObject({ state: 'held' });
  });

  it('is repeated by the schedule when the batch was resumed', async () => {
    const place = placeOf();
    const batch = await stoppedBatch(place, 'paused');
    const { workflowId, runId } = await batch.record();
    const run = { batchId: batch.batchId, workflowId, runId, version: 2 };
    await place.deps.ledger.recordControl({ ...run, paused: false, cancelled: false });

    await closePage(place.deps, {
      ...{ ledgerId: place.deps.ledger.id, batchId: batch.batchId, page: 1, settleMs: 900_000 },
      ...{ ending: 'send-time', waitedFor: null },
    });

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

describe('the failure budget', () => {
  it.each([
    ['fewer answers than say anything', 49, 0, 0.5, false],
    ['fifty answers, all refused', 50, 0, 0.5, true],
    ['exactly the share that is allowed', 25, 25, 0.5, false],
    ['one more than that', 26, 25, 0.5, true],
    ['a budget of nothing, and one refusal', 1, 49, 0, true],
    ['a budget of nothing, and no refusal', 0, 50, 0, false],
    ['a budget of everything', 60, 0, 1, false],
  ])('%s', async (_, refused, taken, failureBudget, spent) => {
    const place = placeOf({ settings: { failureBudget } });
    const batch = await batchOf(place, [...rejections(refused), ...acceptances(place, taken)]);

    const answers = refused + taken;
    expect(await readBudget(place.deps, batch)).toEqual({ spent, refused, answers, failed: 0, finalWords: 0 });
    expect(await holdOverBudget(place.deps, batch)).toBe(spent);
    const last = await batch.line(`R${refused + taken}`);
    expect([last.state, last.reason?.code ?? null]).toEqual(
      spent ? ['held', 'failure-budget-spent'] : ['staged', null],
    );
  });

  it('says how many were refused and what to do', async () => {
    const place = placeOf();
    const batch = await batchOf(place, [...rejections(40), ...acceptances(place, 12)]);

    await holdOverBudget(place.deps, batch);

    expect((await batch.line('R52')).reason?.message).toBe(
      'The service refused 40 of the first 52 invoices, more than LOTE_FAILURE_BUDGET allows. The rest was not sent: look at the refusals, then drop the file again.',
    );
  });
});

describe('the retry budget', () => {
  const retry = { ...RETRY, repeatsPerInvoice: 0.5 };

  it.each([
    ['as many as it allows', 60, [30], false],
    ['one more than that', 60, [31], true],
    ['one more than that, over several slices', 60, [20, 11], true],
    ['what fifty invoices may, in a smaller batch', 3, [25], false],
    ['more than fifty invoices may', 3, [26], true],
    ['none at all', 60, [0], false],
  ])('%s', async (_, invoices, slices, spent) => {
    const place = placeOf({ settings: { retry } });
    const batch = await batchOf(place, [], invoices);

    const answers: boolean[] = [];
    for (const repeats of slices) answers.push(await holdOverRetries(place.deps, { batchId: batch.batchId }, repeats));

    expect(answers.at(-1)).toBe(spent);
    expect(answers.slice(0, -1)).not.toContain(true);
    expect((await batch.line('R0')).state).toBe(spent ? 'held' : 'staged');
  });

  it('says how many POSTs it took, how many it may take, and what to do', async () => {
    const place = placeOf({ settings: { retry } });
    const batch = await batchOf(place, [], 60);

    await holdOverRetries(place.deps, { batchId: batch.batchId }, 31);

    expect((await batch.line('R59')).reason).toEqual({
      code: 'retry-budget-spent',
      message:
        "The batch has repeated 31 POSTs, more than the 30 that retry.repeatsPerInvoice of the service profile allows. The rest was not sent: look at the service's answers, then drop the file again.",
    });
    expect(place.logged).toEqual([
      {
        ...{ level: 'warn', message: 'the retry budget of a batch is spent' },
        fields: { batchId: batch.batchId, repeats: 31, budget: 30 },
      },
    ]);
  });
});

describe('the judgement of the first invoices', () => {
  function judge(place: ActivityPlace, batch: TestBatch): Promise<boolean> {
    return judgeCanary(place.deps, { ledgerId: place.deps.ledger.id, batchId: batch.batchId });
  }

  it('holds the rest when each of ten was refused', async () => {
    const place = placeOf();
    const batch = await batchOf(place, rejections(10), 3);

    expect(await judge(place, batch)).toBe(true);
    expect(await outcomesOf(place, batch.batchId)).toEqual({ rejected: 10, held: 3 });
    expect((await batch.line('R12')).reason).toEqual({
      code: 'first-invoices-refused',
      message:
        'The service refused all of the first 10 invoices. The rest was not sent: look at the refusals, then drop the file again, or use lote retry BATCH --state held.',
    });
    expect(place.logged[0]?.fields).toEqual({ batchId: batch.batchId, refused: 10, held: 3 });
  });

  it.each<readonly [string, number, readonly SendOutcome[]]>([
    ['nine refusals', 9, []],
    ['ten refusals and one that may have arrived', 10, [{ kind: 'unknown', reason: REASON }]],
    ['ten refusals and one still on the wire', 10, [{ kind: 'pending', reason: REASON, mayExist: true }]],
  ])('lets the rest go after %s', async (_, refused, others) => {
    const place = placeOf();
    const batch = await batchOf(place, [...rejections(refused), ...others]);

    expect(await judge(place, batch)).toBe(false);
    expect((await batch.line(`R${refused + others.length}`)).state).toBe('staged');
  });

  it('lets the rest go when one was accepted', async () => {
    const place = placeOf();
    const batch = await batchOf(place, [...rejections(30), ...acceptances(place, 1)]);

    expect(await judge(place, batch)).toBe(false);
  });

  it('holds nothing where nothing is left', async () => {
    const place = placeOf();
    const batch = await batchOf(place, rejections(10), 0);

    expect(await judge(place, batch)).toBe(false);
  });
});

describe('the retention window', () => {
  const HANDED_OUT = 24 * HOUR_MS;

  async function lost(place: ActivityPlace): Promise<TestBatch> {
    return batchOf(place, [{ kind: 'pending', reason: REASON, mayExist: true }], 0);
  }

  it('lets a key be used that the service still knows', async () => {
    const place = placeOf();
    const batch = await lost(place);
    place.later(HANDED_OUT - 1);

    expect(await withinRetention(place.deps, await batch.sendable())).toHaveLength(1);
  });

  it('ends the sending of one that may exist: from then on the same POST could issue it twice', async () => {
    const place = placeOf();
    const batch = await lost(place);
    place.later(HANDED_OUT);

    expect(await withinRetention(place.deps, await batch.sendable())).toEqual([]);
    expect(await batch.line('R0')).toMatchObject({
      state: 'unknown',
      attempts: 1,
      reason: {
        code: 'retention-window-over',
        message:
          'Its first POST left more than 24 h ago, and the service may have forgotten its key: sent again, it could be issued twice. Ask the service, or accept the risk: lote retry BATCH --ref REFERENCE --accept-duplicate-risk --reason WHY.',
      },
    });
  });

  it('does not concern one whose tries all provably failed to arrive', async () => {
    const place = placeOf();
    const batch = await batchOf(place, [{ kind: 'pending', reason: REASON, mayExist: false }], 0);
    place.later(90 * HANDED_OUT);

    expect(await withinRetention(place.deps, await batch.sendable())).toHaveLength(1);
  });

  it('keeps the others of a slice, and names a window of less than an hour as it is', async () => {
    const place = placeOf({ settings: { retry: { ...RETRY, retentionMs: 5_400_000 } } });
    const batch = await batchOf(place, [{ kind: 'pending', reason: REASON, mayExist: true }], 2);
    place.later(5_400_000);

    const left = await withinRetention(place.deps, await batch.sendable());

    expect(left.map(({ invoice }) => invoice.ref)).toEqual(['R1', 'R2']);
    expect((await batch.line('R0')).reason?.message).toContain('more than 1.5 h ago');
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

  it('are not made for an invoice whose merchant has no id yet', async () => {
    const place = placeOf();
    const batch = await place.scenario.run([{ ref: 'A' }]);

    expect((await freezeBodies(place.deps, batch.batchId, await batch.sendable())).size).toBe(0);
    expect((await batch.line('A')).state).toBe('staged');
  });

  it('are not sent of an invoice that somebody else took meanwhile', async () => {
    const place = placeOf();
    const batch = await place.scenario.run([{ ref: 'A' }, { ref: 'B' }]);
    await place.deps.ledger.saveMerchants(place.scenario.application, [{ nif: NIF, merchantId: 'mrc_1' }]);
    const handedOut = await batch.sendable();
    await place.deps.ledger.holdUnsent(batch.batchId, { reason: REASON, now: NOW });

    expect((await freezeBodies(place.deps, batch.batchId, handedOut)).size).toBe(0);
  });
});

describe('how a batch stands', () => {
  it('is counts, exact nets by currency, and what went wrong by reason, without a name', async () => {
    const place = placeOf();
    const batch = await batchOf(place, [...rejections(2), ...acceptances(place, 1)], 1);

    const standing = await snapshotOf(place.deps, batch.batchId);

    expect(standing).toMatchObject({
      ...{ at: NOW, counts: { rejected: 2, accepted: 1, staged: 1 }, problems: 2 },
      net: [{ currency: 'EUR', all: '84', out: '0' }],
    });
    expect(standing.problemGroups).toHaveLength(1);
    expect(JSON.stringify(standing)).not.toMatch(/R\d|Maria/u);
  });

  it('has nothing that went wrong while all is well', async () => {
    const place = placeOf();
    const batch = await batchOf(place, acceptances(place, 1), 1);

    expect(await snapshotOf(place.deps, batch.batchId)).toMatchObject({ problems: 0, problemGroups: [] });
  });
});

describe('what an operator did', () => {
  function look(place: ActivityPlace, batch: TestBatch, paused: boolean, acted: boolean) {
    const action = { actionId: `${batch.batchId}/1`, at: NOW, who: null, what: 'pause', why: 'a wrong file' } as const;
    const actions = acted ? [action] : [];
    return refreshSnapshot(place.deps, { ledgerId: place.deps.ledger.id, batchId: batch.batchId, paused, actions });
  }

  it.each([
    ['pauses it', true, true, 'paused'],
    ['lets it go on', false, true, 'running'],
    ['is nothing: the state stays', true, false, 'running'],
  ])('%s', async (_, paused, acted, state) => {
    const place = placeOf();
    const batch = await place.scenario.run([{ ref: 'A' }]);

    await look(place, batch, paused, acted);

    expect((await batch.record()).state).toBe(state);
    expect((await place.deps.ledger.auditOf(batch.batchId)).map(({ what, why }) => [what, why])).toEqual(
      acted ? [['pause', 'a wrong file']] : [],
    );
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
      ...{ ledgerId: place.deps.ledger.id, batchId, paused, actions: [] },
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
