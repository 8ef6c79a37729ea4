import { describe, expect, it } from 'vitest';
import { checkTotal, checkTotalAgain, filePatternOf } from '../../../../activities/batch/total-check.ts';
import type { OutcomeCount } from '../../../../src/domain/records/batch-record.ts';
import { type FileTotal, type TotalCheck, awaitsConfirmation } from '../../../../src/domain/records/total-check.ts';

const WEEK: readonly FileTotal[] = [10, 12, 9, 11, 30].map((invoices) => ({ invoices, net: { EUR: `${invoices}00` } }));

function counted(invoices: number, net: string, currency = 'EUR'): OutcomeCount {
  return { outcome: 'staged', currency, invoices, net, withoutAmount: 0 };
}

/** The check that is written down for a file with these counts, after these earlier ones. */
async function checkOf(
  outcomes: readonly OutcomeCount[],
  {
    earlier = WEEK,
    factor = 5,
    proof = {},
  }: { earlier?: readonly FileTotal[]; factor?: number | null; proof?: Readonly<Record<string, unknown>> } = {},
): Promise<TotalCheck | undefined> {
  let written: TotalCheck | undefined;
  const ledger = {
    countOutcomes: () => Promise.resolve(outcomes),
    earlierTotals: () => Promise.resolve(earlier),
    saveTotalCheck: (_claim: unknown, { check }: { readonly check: TotalCheck }) => {
      written = check;
      return Promise.resolve();
    },
  } as unknown as Parameters<typeof checkTotal>[0]['ledger'];
  await checkTotal(
    { application: 'default', ledger, now: () => 0, settings: { totalFactor: factor } },
    { batch: { batchId: 'batch-1', fencingToken: 1, file: 'may_7.csv', proof }, input: {}, isHeld: false },
  );
  return written;
}

describe('the pattern of a file name', () => {
  it.each([
    ['Faturas_2026-11-23.csv', 'faturas_#.csv'],
    ['faturas_20261124 (1).csv', 'faturas_#.csv'],
    ['faturas_2026.11.24T02:00.csv', 'faturas_#.csv'],
    ['Março 7.xlsx', 'marco #.xlsx'],
    ['loja-3-2026-11-23.csv', 'loja-#.csv'],
    ['invoices.csv', 'invoices.csv'],
    ['30', '#'],
  ])('of %s is %s', (name, pattern) => {
    expect(filePatternOf(name)).toBe(pattern);
  });
});

describe('the total of a file', () => {
  it('is usual up to the factor of the median, and not beyond, upwards and downwards', async () => {
    expect(await checkOf([counted(55, '5500')])).toMatchObject({ kind: 'usual', usual: { invoices: 11 } });
    expect(await checkOf([counted(56, '5500')])).toMatchObject({
      kind: 'unusual',
      difference:
        'The total differs by more than 5 times from the last 5 files named may_#.csv: 56 invoices, usually 11.',
    });
    expect(await checkOf([counted(11, '5500.01')])).toMatchObject({
      difference: expect.stringContaining('net EUR 5500.01, usually 1100.') as string,
    });
    expect(await checkOf([counted(2, '1100')])).toMatchObject({ kind: 'unusual' });
  });

  it('is unusual with a currency that no file had, and without one that they had', async () => {
    const outcomes = [counted(11, '1100'), counted(1, '0.01', 'USD')];
    expect(await checkOf(outcomes)).toMatchObject({
      difference: expect.stringContaining('net USD 0.01, usually 0.') as string,
    });
    const earlier = WEEK.map((total) => ({ ...total, net: { ...total.net, USD: '7' } }));
    expect(await checkOf([counted(11, '1100')], { earlier })).toMatchObject({
      difference: expect.stringContaining('net USD 0, usually 7.') as string,
    });
  });

  it('of a corrections file is not judged, and says so: it is a part of a file', async () => {
    const outcomes = [counted(1, '9999999')];

    expect(await checkOf(outcomes, { proof: { dialect: { own: true } } })).toEqual({ kind: 'corrections' });
    expect(await checkOf(outcomes, { proof: { dialect: { own: false } } })).toMatchObject({ kind: 'unusual' });
  });

  it('is compared in a currency with the files that had it: one of few files is usual where it is, and where it is not', async () => {
    const earlier = WEEK.map((total, at) => (at < 2 ? { ...total, net: { ...total.net, USD: '7' } } : total));
    const withDollars = (net: string) => checkOf([counted(11, '1100'), counted(1, net, 'USD')], { earlier });

    expect(await withDollars('35')).toMatchObject({ kind: 'usual', usual: { net: { EUR: '1100', USD: '7' } } });
    expect(await withDollars('35.01')).toMatchObject({
      difference: expect.stringContaining('net USD 35.01, usually 7.') as string,
    });
    expect(await checkOf([counted(11, '1100')], { earlier })).toMatchObject({
      ...{ kind: 'usual', usual: { invoices: 11, net: { EUR: '1100' } } },
    });
    // Four of five had it: it may be missing.
    const most = WEEK.map((total, at) => (at < 4 ? { ...total, net: { ...total.net, USD: '7' } } : total));
    expect(await checkOf([counted(11, '1100')], { earlier: most })).toMatchObject({ kind: 'usual' });
  });

  it('is not compared with fewer than five files, or when no factor is set', async () => {
    const earlier = WEEK.slice(0, 4);
    expect(await checkOf([counted(9_999, '1')], { earlier })).toEqual({ kind: 'too-few', batches: 4, needed: 5 });
    expect(await checkOf([counted(9_999, '1')], { factor: null })).toEqual({ kind: 'off' });
  });
});

describe('a batch that an earlier run had staged', () => {
  it('is not held for its total once something of it was sent, and its total was never questioned', async () => {
    for (const [hasSent, isHeld] of [
      [false, true],
      [true, false],
    ] as const) {
      const ledger = {
        totalCheck: () => Promise.resolve(null),
        hasSent: () => Promise.resolve(hasSent),
        // What another batch of the same invoices sends shows here too, and is none of this batch's.
        countOutcomes: () => Promise.resolve([counted(9_999, '1'), { ...counted(1, '100'), outcome: 'sending' }]),
        earlierTotals: () => Promise.resolve(WEEK),
        saveTotalCheck: () => Promise.resolve(),
      } as unknown as Parameters<typeof checkTotal>[0]['ledger'];
      const unusual = await checkTotalAgain(
        { application: 'default', ledger, now: () => 0, settings: { totalFactor: 5 } },
        { batch: { batchId: 'batch-1', fencingToken: 1, file: 'may_7.csv', proof: {} }, input: {}, isHeld: false },
      );
      expect(unusual !== null).toBe(isHeld);
    }
  });
});

const TOTAL = { invoices: 1, net: { EUR: '1' } };
const UNUSUAL: TotalCheck = { kind: 'unusual', batches: 5, factor: 3, usual: TOTAL, difference: 'more' };
const USUAL: TotalCheck = { kind: 'usual', batches: 5, factor: 3, usual: TOTAL };

it.each<readonly [string, TotalCheck | null, number | null, boolean]>([
  ['that is unusual is waited for', UNUSUAL, null, true],
  ['that is unusual and confirmed is not', UNUSUAL, 1, false],
  ['that is usual is not', USUAL, null, false],
  ['that was declared is not', { kind: 'declared' }, null, false],
  ['that was never checked is not', null, null, false],
])('the confirmation of a total %s', (_title, check, confirmedAt, awaits) => {
  const saved = check === null ? null : { pattern: 'p', total: TOTAL, check, confirmedAt };

  expect(awaitsConfirmation(saved)).toBe(awaits);
});
