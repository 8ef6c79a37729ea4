import { describe, expect, it } from 'vitest';
import { statusOf, statusTable } from '../../../../src/cli/commands/status.ts';
import type { ReadBatch } from '../../../../src/console/operations.ts';

const MAY: ReadBatch = {
  ...{ batchId: 'batch-may-1a2b3c4d', workflowId: 'batch-may-1a2b3c4d', stopped: null, total: null },
  ...{ application: 'default', sha256: '0', runId: 'run', pageSize: 50, pages: 1, proof: {} },
  ...{ rowsLost: 0, totalsDiffer: null, contradicted: 0, contradictedRefs: [] },
  ...{ file: 'may.csv', state: 'finished', rows: 12, rowsWithoutInvoice: 0, invoices: 10, revision: 1 },
  ...{ startedAt: Date.UTC(2026, 4, 1, 1, 0), finishedAt: Date.UTC(2026, 4, 1, 1, 7) },
  counts: { issued: 7, 'already-issued': 1, failed: 2 },
};

describe('`lote status`', () => {
  it('is a table whose columns stand below each other, or says what to type when there is nothing yet', () => {
    expect(statusTable([])).toBe('No batch yet. Start one with: lote run FILE\n');
    const batchId = 'batch-a-long-name-of-a-file-1a2b3c4d';
    const running: ReadBatch = { ...MAY, batchId, state: 'running', counts: { issued: 4, sending: 6 } };
    const reading: ReadBatch = { ...MAY, batchId: 'batch-new-1', state: 'staging', invoices: 0, counts: {} };

    expect(statusTable([reading, running, MAY], 'UTC')).toBe(
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

describe('`lote status BATCH`', () => {
  it('says where a batch stands and what to type next', () => {
    expect(statusOf(MAY, 'UTC')).toBe(
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

  const asks = '; lote reconcile asks now for what is unknown or unsettled';
  it.each<readonly [ReadBatch['counts'], string]>([
    [{ unknown: 1 }, asks],
    [{ unsettled: 1 }, asks],
    [{ invalid: 1 }, ', then correct the rows'],
    [{ conflict: 1 }, ', then correct the rows'],
    [{ held: 1 }, ', then lote retry batch-may-1a2b3c4d'],
    [{ rejected: 1 }, ', then correct the rows or lote retry batch-may-1a2b3c4d'],
    [{ held: 1, unknown: 1 }, `, then lote retry batch-may-1a2b3c4d${asks}`],
  ])('names only what helps %j', (counts, next) => {
    expect(statusOf({ ...MAY, counts: { ...counts, issued: 2 } }, 'UTC')).toContain(
      `  next      lote report batch-may-1a2b3c4d${next}\n`,
    );
  });

  it.each([
    ['running', 'lote report batch-may-1a2b3c4d --follow'],
    ['staging', 'lote report batch-may-1a2b3c4d --follow'],
    ['paused', 'resume it in the console or the Temporal UI'],
    ['refused', 'lote report batch-may-1a2b3c4d says why'],
  ] as const)('of a %s batch: %s', (state, next) => {
    expect(statusOf({ ...MAY, state, finishedAt: null }, 'UTC')).toContain(`next      ${next}`);
  });

  it('sends an operator to the question about the total when the run ended before it was answered', () => {
    const usual = { invoices: 1, net: { EUR: '1' } };
    const check = { kind: 'unusual', batches: 5, factor: 5, usual, difference: 'much' } as const;
    const total = { pattern: 'may.csv', total: { invoices: 10, net: {} }, check, confirmedAt: null };

    const text = statusOf({ ...MAY, counts: { held: 10 }, total }, 'UTC');

    expect(text).toContain(
      'next      run its file again, which asks about the total once more; then lote confirm-total',
    );
    expect(text).not.toContain('lote retry');
  });

  it('says what is wrong with a file of which every invoice went out', () => {
    const good = { ...MAY, counts: { issued: 10 } };
    const short = { ...good, rowsWithoutInvoice: 2, rowsLost: 1, totalsDiffer: 'expected 11 invoices, found 10' };
    const doubtful = { ...good, contradicted: 2, contradictedRefs: ['F-1'] };

    const text = statusOf(good, 'UTC');
    expect(text).toContain('10 went out, 0 not confirmed as issued, 0 open');
    expect(text).toMatch(/next {6}lote report batch-may-1a2b3c4d\n$/);
    expect(text).not.toMatch(/lost|totals|doubt/);
    expect(statusOf(short, 'UTC')).toContain(
      '  lost      1 rows without a usable reference or tax number, in no invoice\n  totals    expected 11 invoices, found 10\n',
    );
    expect(statusOf(doubtful, 'UTC')).toContain(
      '  in doubt  2 went out, and may exist twice or have failed; look them up at the service: F-1, …\n',
    );
    expect(statusTable([doubtful], 'UTC')).toMatch(/10 \(2 in doubt\) +0 +0\n$/u);
  });
});
