import { describe, expect, it } from 'vitest';
import { batchNotFound } from '../../../../src/cli/session/batch-not-found.ts';
import { statusOf, statusTable } from '../../../../src/cli/output/status-text.ts';
import type { ReadBatch } from '../../../../src/wiring/reports/batch-reader.ts';

const MAY: ReadBatch = {
  batchId: 'batch-may-1a2b3c4d',
  file: 'may.csv',
  state: 'finished',
  rows: 12,
  rowsWithoutInvoice: 0,
  invoices: 10,
  revision: 1,
  startedAt: Date.UTC(2026, 4, 1, 1, 0),
  finishedAt: Date.UTC(2026, 4, 1, 1, 7),
  counts: { issued: 7, 'already-issued': 1, failed: 2 },
};

describe('`lote status`', () => {
  it('says what to type when there is nothing yet', () => {
    expect(statusTable([], false)).toBe('No batch yet. Start one with: lote run FILE\n');
  });

  it('is a table whose columns stand below each other', () => {
    const running: ReadBatch = {
      ...MAY,
      batchId: 'batch-a-long-name-of-a-file-1a2b3c4d',
      state: 'running',
      finishedAt: null,
      counts: { issued: 4, sending: 6 },
    };
    const reading: ReadBatch = { ...MAY, batchId: 'batch-new-1', state: 'staging', invoices: 0, counts: {} };

    expect(statusTable([reading, running, MAY], false, 'UTC')).toBe(
      [
        'BATCH                                 STATE     STARTED           INVOICES  WENT OUT  DID NOT  OPEN',
        'batch-new-1                           staging   2026-05-01 01:00         -         -        -     -',
        'batch-a-long-name-of-a-file-1a2b3c4d  running   2026-05-01 01:00        10         4        0     6',
        'batch-may-1a2b3c4d                    finished  2026-05-01 01:00        10         8        2     0',
        '',
      ].join('\n'),
    );
  });
});

const STUCK: ReadBatch = {
  ...{ ...MAY, state: 'running', finishedAt: null, counts: { issued: 4, sending: 6 } },
  stuck: {
    workflowId: 'batch-may-1a2b3c4d/page-1',
    attempts: 5,
    since: null,
    cause: 'NON_DETERMINISTIC_ERROR',
    build: '0.1.0+9f86d081884c',
  },
};

describe('a batch whose workflow task fails again and again', () => {
  it('is stuck in the table, whatever the ledger says', () => {
    expect(statusTable([STUCK], false, 'UTC')).toContain('batch-may-1a2b3c4d  stuck  ');
  });

  it('says by itself why, and what helps', () => {
    const text = statusOf(STUCK, false, 'UTC');

    expect(text).toContain('Batch batch-may-1a2b3c4d: running, and stuck');
    expect(text).toContain(
      'batch-may-1a2b3c4d/page-1: its workflow task fails again and again (NON_DETERMINISTIC_ERROR',
    );
    expect(text).toContain('attempt 5); its last step was made by Lote 0.1.0+9f86d081884c\n');
    expect(text).toContain('next      run a worker with the version of Lote that made its last step');
  });
});

describe('`lote status BATCH`', () => {
  it('says where a batch stands and what to type next', () => {
    expect(statusOf(MAY, false, 'UTC')).toBe(
      [
        'Batch batch-may-1a2b3c4d: finished',
        '  file      may.csv, started 2026-05-01 01:00, ended 2026-05-01 01:07',
        '  invoices  10 from 12 rows: 8 went out, 2 not confirmed as issued, 0 open',
        '  states    issued 7, failed 2, already-issued 1',
        '  next      lote report batch-may-1a2b3c4d, then correct the rows or lote retry batch-may-1a2b3c4d',
        '',
      ].join('\n'),
    );
  });

  it.each<readonly [ReadBatch['counts'], string]>([
    [{ unknown: 1 }, '; lote reconcile asks now for what is unknown or unsettled'],
    [{ unsettled: 1 }, '; lote reconcile asks now for what is unknown or unsettled'],
    [{ invalid: 1 }, ', then correct the rows'],
    [{ conflict: 1 }, ', then correct the rows'],
    [{ held: 1 }, ', then lote retry batch-may-1a2b3c4d'],
    [{ rejected: 1 }, ', then correct the rows or lote retry batch-may-1a2b3c4d'],
    [
      { held: 1, unknown: 1 },
      ', then lote retry batch-may-1a2b3c4d; lote reconcile asks now for what is unknown or unsettled',
    ],
  ])('names only what helps %j', (counts, next) => {
    expect(statusOf({ ...MAY, counts: { ...counts, issued: 2 } }, false, 'UTC')).toContain(
      `  next      lote report batch-may-1a2b3c4d${next}\n`,
    );
  });

  it.each([
    ['running', 'lote report batch-may-1a2b3c4d --follow'],
    ['staging', 'lote report batch-may-1a2b3c4d --follow'],
    ['paused', 'resume it in the console or the Temporal UI'],
    ['refused', 'lote report batch-may-1a2b3c4d says why'],
  ] as const)('of a %s batch: %s', (state, next) => {
    expect(statusOf({ ...MAY, state, finishedAt: null }, false, 'UTC')).toContain(`next      ${next}`);
  });

  it('sends an operator to the question about the total when the run ended before it was answered', () => {
    const usual = { invoices: 1, net: { EUR: '1' } };
    const check = { kind: 'unusual', batches: 5, factor: 5, usual, difference: 'much' } as const;
    const total = { pattern: 'may.csv', total: { invoices: 10, net: {} }, check, confirmedAt: null };

    const text = statusOf({ ...MAY, counts: { held: 10 }, total }, false, 'UTC');

    expect(text).toContain(
      'next      run its file again, which asks about the total once more; then lote confirm-total',
    );
    expect(text).not.toContain('lote retry');
  });

  it('asks for nothing when everything went out', () => {
    const text = statusOf({ ...MAY, counts: { issued: 10 } }, false, 'UTC');

    expect(text).toContain('10 went out, 0 not confirmed as issued, 0 open');
    expect(text).toMatch(/next {6}lote report batch-may-1a2b3c4d\n$/);
    expect(text).not.toMatch(/lost|totals/);
  });

  it('says what is wrong with a file of which every invoice went out', () => {
    const batch = { ...MAY, counts: { issued: 10 }, rowsWithoutInvoice: 2, rowsLost: 1 };

    const text = statusOf({ ...batch, totalsDiffer: 'expected 11 invoices, found 10' }, false, 'UTC');

    expect(text).toContain('  lost      1 rows without a usable reference or tax number, in no invoice\n');
    expect(text).toContain('  totals    expected 11 invoices, found 10\n');
  });

  it('names the invoices that went out and are in doubt', () => {
    const batch = { ...MAY, counts: { issued: 10 }, contradicted: 2, contradictedRefs: ['F-1'] };

    expect(statusOf(batch, false, 'UTC')).toContain(
      '  in doubt  2 went out, and may exist twice or have failed; look them up at the service: F-1, …\n',
    );
    expect(statusTable([batch], false, 'UTC')).toMatch(/10 \(2 in doubt\) +0 +0\n$/u);
  });
});

describe('an id that nobody knows', () => {
  it('brings those that may have been meant', () => {
    const known = [{ batchId: 'batch-may-1a2b3c4d' }, { batchId: 'batch-may-two-9' }, { batchId: 'batch-june-2' }];

    expect(batchNotFound('may', known).message).toContain('Did you mean batch-may-1a2b3c4d or batch-may-two-9?');
    expect(batchNotFound('april', known).message).toContain('`lote status` lists');
  });
});
