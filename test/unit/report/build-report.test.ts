import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Finding } from '../../../src/domain/invoice.ts';
import { OUTCOMES, wentOut } from '../../../src/domain/invoice-state.ts';
import { sumDecimals } from '../../../src/domain/money.ts';
import { batchFigures } from '../../../src/report/write-report.ts';
import { buildReport } from '../../../src/report/build-report.ts';
import { batchInvoice, batchOf, countsOf, NOON, portionsOf, unsentInvoice, finding } from './batch-invoices.ts';
import type { BatchInvoice, BatchRecord, OutcomeCount } from '../../../src/domain/records/batch-record.ts';
import { deliveryNotes, reasonOf } from '../../../src/report/report-model.ts';
import { DOER_OF, DOERS } from '../../../src/report/html/sections.ts';
import { englishNote, noteText, REPORT_TEXTS, reportFormat } from '../../../src/report/texts/report-format.ts';
import { STATE_ORDER, toneOf } from '../../../src/texts/outcomes/outcome-html.ts';
import { isCorrectable } from '../../../src/report/corrections/corrections-plan.ts';

interface Given {
  readonly batch?: Partial<BatchRecord>;
  /** What the ledger counts, each time that it is asked; the last one again and again. */
  readonly counts?: readonly (readonly OutcomeCount[])[];
  readonly findings?: readonly Finding[];
}

function build(invoices: readonly BatchInvoice[], given: Given = {}) {
  const counts = [...(given.counts ?? [])];
  return buildReport({
    batch: batchOf(invoices, given.batch),
    counts: () => Promise.resolve((counts.length > 1 ? counts.shift() : counts[0]) ?? countsOf(invoices)),
    invoices: portionsOf(invoices),
    findings: given.findings ?? [],
    revision: 1,
    notes: [],
    now: NOON + 90_000,
  });
}

const REASON = { code: 'tax-code-unknown', message: 'The tax code is not known.' };
const unbalanced = { code: 'report-unbalanced' };

describe('buildReport', () => {
  it('says in numbers what pictures of many nights need: states, sums, settle times of this batch, reasons', async () => {
    const sentAt = NOON;
    const model = await build([
      batchInvoice({ ordinal: 1, net: '10.5', sentAt, settledAt: NOON + 20 }),
      batchInvoice({ ordinal: 2, net: '1', state: 'already-issued', sentAt, settledAt: NOON + 9_000 }),
      batchInvoice({ ordinal: 3, net: '2', state: 'failed', reason: REASON, sentAt, settledAt: NOON + 80 }),
      batchInvoice({ ordinal: 4, net: '4', state: 'rejected', reason: { ...REASON, code: 'x'.repeat(200) }, sentAt }),
    ]);

    expect(batchFigures(model)).toEqual({
      states: { issued: 1, 'already-issued': 1, failed: 1, rejected: 1 },
      money: [{ currency: 'EUR', net: '17.5', out: '10.5', before: '1' }],
      settling: { 8: 1, 24: 1 },
      reasons: [
        { state: 'failed', code: REASON.code, invoices: 1 },
        { state: 'rejected', code: 'x'.repeat(80), invoices: 1 },
      ],
      outcomes: [
        ['issued', '10.5'],
        ['already-issued', '1'],
        ['failed', '2'],
        ['rejected', '4'],
      ].map(([outcome, net]) => ({ outcome, currency: 'EUR', invoices: 1, net, withoutAmount: 0 })),
    });
  });

  it('gives an issued invoice of another batch to that one in the figures, and to both in the reports', async () => {
    const shared = { ordinal: 2, net: '1', sentAt: NOON, settledAt: NOON + 80 };
    const own = [batchInvoice({ ordinal: 1, net: '10.5', settledAt: NOON + 20 }), batchInvoice(shared)];
    const attached = [
      batchInvoice({ ...shared, issuedElsewhere: true }),
      batchInvoice({ ordinal: 3, net: '4', currency: 'BRL', issuedElsewhere: true }),
      batchInvoice({ ordinal: 4, net: '2', state: 'already-issued' }),
    ];

    const [first, second] = [await build(own), await build(attached)];

    expect(batchFigures(first)).toMatchObject({
      states: { issued: 2 },
      money: [{ currency: 'EUR', net: '11.5', out: '11.5', before: '0' }],
      settling: { 8: 1, 24: 1 },
    });
    expect(batchFigures(second)).toMatchObject({
      states: { 'already-issued': 3 },
      money: [
        { currency: 'BRL', net: '4', out: '0', before: '4' },
        { currency: 'EUR', net: '3', out: '0', before: '3' },
      ],
      outcomes: [
        { outcome: 'issued', currency: 'EUR', net: '1' },
        { outcome: 'issued', currency: 'BRL', net: '4' },
        { outcome: 'already-issued', currency: 'EUR', net: '2' },
      ],
    });
    expect(batchFigures(second).settling).toEqual({});
    expect(second.counts).toMatchObject({ issued: 2, 'already-issued': 1 });
    expect(second.totals[1]?.byState).toEqual({ issued: '1', 'already-issued': '2' });
  });

  it('sums amounts exactly, by currency and state, and takes none that is unreadable for zero', async () => {
    const invalid = { state: 'invalid', reason: REASON, net: null } as const;
    const { totals } = await build([
      batchInvoice({ ordinal: 1, net: '0.1' }),
      batchInvoice({ ordinal: 2, net: '0.2' }),
      batchInvoice({ ordinal: 3, net: '99999999999999999999.01', state: 'failed', reason: REASON }),
      batchInvoice({ ordinal: 4, net: '-7', currency: 'BRL' }),
      unsentInvoice({ ...invalid, ordinal: 5 }),
      unsentInvoice({ ...invalid, ordinal: 6, currency: null }),
    ]);

    const byState = { issued: '0.3', failed: '99999999999999999999.01', invalid: '0' };
    // Alphabetical, the unreadable currency last.
    expect(totals).toEqual([
      { currency: 'BRL', invoices: 1, net: '-7', withoutAmount: 0, byState: { issued: '-7' } },
      { currency: 'EUR', invoices: 4, net: '99999999999999999999.31', withoutAmount: 1, byState },
      { currency: null, invoices: 1, net: '0', withoutAmount: 1, byState: { invalid: '0' } },
    ]);
  });

  it('groups reasons by state and code, largest first, with the first five as examples', async () => {
    const refused = Array.from({ length: 7 }, (_, index) =>
      batchInvoice({ ordinal: index + 2, state: 'rejected', reason: REASON }),
    );
    const failed = batchInvoice({ ordinal: 1, state: 'failed', reason: REASON });

    const { reasons } = await build([failed, ...refused]);

    expect(reasons.map(({ state, code, invoices }) => [state, code, invoices])).toEqual([
      ['rejected', 'tax-code-unknown', 7],
      ['failed', 'tax-code-unknown', 1],
    ]);
    expect(reasons[0]?.examples.map(({ ref }) => ref)).toEqual(['F-2', 'F-3', 'F-4', 'F-5', 'F-6']);
  });

  it('keeps the sum of the reason groups when the service makes up a code per invoice', async () => {
    const invoices = Array.from({ length: 300 }, (_, index) =>
      batchInvoice({ ordinal: index + 1, state: 'rejected', reason: { code: `error-${index}`, message: 'No.' } }),
    );

    const { reasons } = await build(invoices);

    expect(reasons.reduce((sum, group) => sum + group.invoices, 0)).toBe(300);
    expect(reasons[0]).toMatchObject({ code: 'other-reasons', invoices: 100 });
  });

  it('says that everything was issued only when no data row is left over', async () => {
    const left: Finding = finding(9, 'invoice_ref', 'ref-missing', 'No reference.');
    const totals: Finding = finding(9, null, 'totals-row', 'Totals row.', 'info');
    const batch = { rowsWithoutInvoice: 1 };

    expect((await build([batchInvoice()], { batch, findings: [totals] })).everythingIssued).toBe(true);
    expect((await build([batchInvoice()], { batch, findings: [left] })).everythingIssued).toBe(false);
    expect((await build([batchInvoice({ state: 'unknown', reason: REASON })])).everythingIssued).toBe(false);
  });

  it('balances whatever the batch holds', async () => {
    const amount = fc.bigInt({ min: -(10n ** 24n), max: 10n ** 24n }).map((digits) => sumDecimals([`${digits}e-4`]));
    const invoice = fc.record({
      state: fc.constantFrom(...OUTCOMES),
      currency: fc.constantFrom('EUR', 'BRL', null),
      net: fc.option(amount),
    });

    await fc.assert(
      fc.asyncProperty(fc.array(invoice, { maxLength: 40 }), async (drawn) => {
        const invoices = drawn.map((given, index) => batchInvoice({ ...given, ordinal: index + 1, reason: REASON }));

        const { counts, totals } = await build(invoices);

        expect(OUTCOMES.reduce((sum, state) => sum + counts[state], 0)).toBe(invoices.length);
        expect(totals.reduce((sum, total) => sum + total.invoices, 0)).toBe(invoices.length);
        for (const { net, byState } of totals) expect(sumDecimals(Object.values(byState))).toBe(net);
      }),
    );
  });
});

describe('buildReport refuses to build', () => {
  const two = [batchInvoice({ ordinal: 1 }), batchInvoice({ ordinal: 2 })];
  const failed = batchInvoice({ ordinal: 1, state: 'failed' });

  it.each<[string, () => Promise<unknown>]>([
    ['fewer invoices than the batch has', () => build(two, { batch: { invoices: 3 } })],
    ['rows that do not add up', () => build(two, { batch: { rows: 5 } })],
    ['a count that was read differently', () => build(two, { counts: [countsOf([...two.slice(1), failed])] })],
    ['one row in two', () => build([batchInvoice({ rows: [2, 3] }), batchInvoice({ ordinal: 2, rows: [3, 4] })])],
    ['a state without a reason', () => build([batchInvoice({ state: 'unknown', reason: null })])],
  ])('%s', async (_, attempt) => {
    await expect(attempt()).rejects.toMatchObject(unbalanced);
  });

  it('a file that is still being read, as something that passes', async () => {
    await expect(build([], { batch: { state: 'staging' } })).rejects.toMatchObject({ code: 'report-superseded' });
  });

  it('a closed batch only for what no move of an invoice can change, while late news move its invoices', async () => {
    const unsettled = countsOf([batchInvoice({ state: 'unsettled', reason: REASON })]);
    const issued = countsOf([batchInvoice()]);

    await expect(build([batchInvoice()], { counts: [unsettled, issued] })).resolves.toMatchObject({
      counts: { issued: 1, unsettled: 0 },
    });
    await expect(build([batchInvoice()], { counts: [unsettled, unsettled] })).rejects.toMatchObject(unbalanced);
    await expect(build([batchInvoice({ net: '1' })], { counts: [unsettled, issued] })).rejects.toMatchObject(
      unbalanced,
    );
  });

  it('with a message that names no reference and no tax number', async () => {
    const error = await build([batchInvoice({ state: 'held', ref: 'SECRET-REF' })]).catch((thrown: unknown) => thrown);

    expect(String(error)).toContain('invoice 1 of the batch');
    expect(String(error)).not.toMatch(/SECRET-REF|501964843/);
  });
});

const FAILED = { code: 'engine-failed', message: 'No.' };
const FOUND = { code: 'quantity-unreadable', message: 'No number' };
const error = finding(3, 'quantity', FOUND.code, FOUND.message);
const warning = { ...error, code: 'nif-checksum', severity: 'warning' } as const;

describe('reasonOf', () => {
  it.each<[string, Partial<BatchInvoice>, object | null]>([
    ['none for an issued invoice', { state: 'issued', reason: FAILED, findings: [error] }, null],
    ['none for one that an earlier file issued', { state: 'already-issued', reason: FAILED, findings: [error] }, null],
    ["the ledger's own before any finding", { state: 'failed', reason: FAILED, findings: [error] }, FAILED],
    ['the first error of an invalid invoice', { state: 'invalid', findings: [warning, error] }, FOUND],
  ])('is %s', (_, invoice, reason) => {
    expect(reasonOf(batchInvoice(invoice))).toEqual(reason);
  });

  it('is never a warning', () => {
    expect(() => reasonOf(batchInvoice({ state: 'invalid', findings: [warning] }))).toThrow(/must have a reason/u);
  });

  it.each(['staged', 'sending', 'accepted'] as const)('is a word of its own for one that is %s', (state) => {
    expect(reasonOf(batchInvoice({ state }))?.message).toMatch(/\.$/u);
  });

  it.each(OUTCOMES.filter((state) => !wentOut(state) && !['staged', 'sending', 'accepted'].includes(state)))(
    'must be there for %s: a state without a reason is an error',
    (state) => {
      expect(() => reasonOf(batchInvoice({ state, ordinal: 7 }))).toThrow(
        `found none for invoice 7 of the batch, state ${state}.`,
      );
    },
  );
});

describe('the words of the report', () => {
  it('have an order that holds every state once', () => {
    expect([...STATE_ORDER].toSorted()).toEqual([...OUTCOMES].toSorted());
  });

  it.each(OUTCOMES)('say of %s whose turn it is and what to do in each language, unless it went out', (state) => {
    expect(DOER_OF[state] === null).toBe(wentOut(state));
    if (DOER_OF[state] !== null) expect(DOERS).toContain(DOER_OF[state]);
    for (const { next } of Object.values(REPORT_TEXTS)) expect(next[state] === undefined).toBe(wentOut(state));
  });

  it('never ask the back office to send again what may be alive at the service', () => {
    const alive = { accepted: 'lote', sending: 'lote', unknown: 'operator', unsettled: 'lote' } as const;
    for (const state of ['accepted', 'sending', 'unknown', 'unsettled'] as const) {
      expect(DOER_OF[state]).toBe(alive[state]);
      expect(isCorrectable({ state, reason: { code: 'merchant-details-missing', message: '' } })).toBe(false);
    }
    for (const state of ['unknown', 'unsettled'] as const) {
      expect(REPORT_TEXTS.en.next[state]).toContain('Do not send these in another file');
      expect(REPORT_TEXTS.pt.next[state]).toContain('Não as envie noutro ficheiro');
      expect(REPORT_TEXTS.es.next[state]).toContain('No las envíe en otro archivo');
    }
  });

  it('colour only what went out as good, and a definite no as bad', () => {
    expect(OUTCOMES.filter((state) => toneOf(state) === 'good').toSorted()).toEqual(['already-issued', 'issued']);
    const bad = OUTCOMES.filter((state) => toneOf(state) === 'bad');
    expect(bad.toSorted()).toEqual(['conflict', 'failed', 'invalid', 'rejected']);
    expect(OUTCOMES.filter((state) => toneOf(state) === 'open').toSorted()).toEqual(['held', 'unknown', 'unsettled']);
  });
});

describe('deliveryNotes', () => {
  it('alerts of what could not be read and of unknown invoices, and says nothing when nothing is wrong', () => {
    const notes = deliveryNotes({ unreadable: 1, unknownIds: 12 }).map(englishNote);

    expect(deliveryNotes({ unreadable: 0, unknownIds: 0 })).toEqual([]);
    expect(notes).toHaveLength(2);
    expect(notes[0]).toMatch(/^Alert: 1 webhook with a right signature could not be read/);
    expect(notes[1]).toMatch(
      /^Alert: 12 webhooks since this batch began told of invoices that this ledger does not know/,
    );
  });

  it.each([
    ['pt', 'Alerta: desde que este lote começou, 2 webhooks com assinatura correta não puderam ser lidos.'],
    ['es', 'Alerta: desde que empezó este lote, 2 webhooks con firma correcta no se pudieron leer.'],
  ] as const)('alerts in %s, too', (language, expected) => {
    const [note] = deliveryNotes({ unreadable: 2, unknownIds: 0 });

    expect(noteText(reportFormat({ language, locale: language }), note ?? expect.fail('no note'))).toContain(expected);
  });
});
