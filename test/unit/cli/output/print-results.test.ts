import { describe, expect, it } from 'vitest';
import { printResults } from '../../../../src/cli/output/summary-table.ts';
import type { BatchResult } from '../../../../src/domain/messages/messages.ts';
import { printed } from '../printed.ts';

const REPORTS = { json: '/r/report.json', csv: '/r/report.csv', html: '/r/report.html', corrections: null };
const ISSUED: BatchResult = {
  ...{ batchId: 'batch-a', file: 'a.csv', state: 'finished', reports: REPORTS, pagesFailed: 0 },
  counts: { rows: 1, invoices: 1, issued: 1 },
};
const SOME: BatchResult = { ...ISSUED, batchId: 'batch-b', counts: { rows: 1, invoices: 1, failed: 1 } };
const REFUSED: BatchResult = { ...ISSUED, batchId: 'batch-c', state: 'refused', counts: { rows: 1 } };

describe('the end of a command that waited for batches', () => {
  it.each([
    ['none', [], 0],
    ['one that is issued', [ISSUED], 0],
    ['an issued and another', [ISSUED, SOME], 1],
    ['the other way round', [SOME, ISSUED], 1],
    ['a refused one among others', [ISSUED, REFUSED, SOME], 2],
  ])('has the exit code of the worst: %s', (_, results, exitCode) => {
    printed();

    expect(printResults(results, true)).toBe(exitCode);
  });

  it('is a summary for each batch, one after the other', () => {
    const { stdout, stderr } = printed();

    printResults([ISSUED, SOME], false);

    expect(stdout()).toBe(
      [
        'Batch batch-a: finished',
        '  issued                 1',
        '  invoices               1   from 1 rows',
        'Report       /r/report.html',
        'Batch batch-b: finished',
        '  failed                 1',
        '  invoices               1   from 1 rows',
        'Report       /r/report.html',
        '',
      ].join('\n'),
    );
    expect(stderr()).toBe('');
  });

  it('is one JSON document, with the exit code of each batch', () => {
    const { stdout } = printed();

    printResults([ISSUED, REFUSED], true);

    expect(stdout().endsWith('}\n')).toBe(true);
    expect(JSON.parse(stdout())).toEqual({
      batches: [
        {
          ...{ id: 'batch-a', file: 'a.csv', state: 'finished', exitCode: 0 },
          ...{ counts: { rows: 1, invoices: 1, issued: 1 }, reports: REPORTS },
        },
        { id: 'batch-c', file: 'a.csv', state: 'refused', exitCode: 2, counts: { rows: 1 }, reports: REPORTS },
      ],
    });
  });

  it('tells in JSON of a retry, of changes and of another run only where there are such', () => {
    const { stdout } = printed();
    const more = {
      attachedTo: 'workflow-x',
      revision: 3,
      changes: [{ from: 'unknown', to: 'issued', invoices: 1 }],
      retried: { moved: 1, refused: { 'generations-spent': 2 } },
    } as const;

    printResults([{ ...ISSUED, ...more }], true);

    const { batches } = JSON.parse(stdout()) as { batches: object[] };
    expect(batches[0]).toMatchObject(more);
    expect(batches[0]).not.toHaveProperty('pagesFailed');
  });
});
