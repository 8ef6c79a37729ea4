import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../../support/files/temporary-directory.ts';
import { printResults, summaryTable } from '../../../../src/cli/output/summary-table.ts';
import type { BatchResult } from '../../../../src/domain/messages/messages.ts';
import { printed } from '../printed.ts';

const REPORTS = { json: '/r/report.json', csv: '/r/report.csv', html: '/r/report.html', corrections: null };
const ISSUED: BatchResult = {
  ...{ batchId: 'batch-a', file: 'a.csv', state: 'finished', reports: REPORTS, pagesFailed: 0 },
  counts: { rows: 5, invoices: 3, issued: 3 },
};
const SOME: BatchResult = { ...ISSUED, batchId: 'batch-b', counts: { rows: 1, invoices: 1, failed: 1 } };
const REFUSED: BatchResult = { ...ISSUED, batchId: 'batch-c', state: 'refused', counts: { rows: 1 } };

function table(over: Partial<BatchResult> = {}): readonly string[] {
  return summaryTable({ ...ISSUED, ...over }).split('\n');
}

describe('the summary of a batch', () => {
  it('leaves out what did not occur, and keeps one order of states', () => {
    const counts = { rows: 9, invoices: 9, 'already-issued': 1, invalid: 2, failed: 1, issued: 5, held: 0 };

    expect(table({ counts })).toEqual([
      'Batch batch-a: finished',
      '  issued                 5',
      '  failed                 1',
      '  invalid                2',
      '  already-issued         1',
      '  invoices               9   from 9 rows',
      'Report       /r/report.html',
    ]);
  });

  const LOST = { rows: 3, invoices: 1, rowsWithoutInvoice: 2, rowsLost: 1 };

  it.each([
    ['rows in no invoice', { counts: { ...LOST, rowsLost: 0 } }, '  rows without invoice 2'],
    ['rows that are lost', { counts: LOST }, '  LOST ROWS 1: without a usable reference or tax number, in no invoice'],
    ['other totals', { totalsDiffer: 'expected 4, found 3' }, '  CONTROL TOTALS differ: expected 4, found 3'],
    ['changes', { changes: [{ from: 'unknown', to: 'issued', invoices: 2 }] }, '  changed: 2 from unknown to issued'],
    ['who had the file', { attachedTo: 'other-workflow' }, '  another run had this file: other-workflow'],
    ['corrections', { reports: { ...REPORTS, corrections: '/r/corrections.csv' } }, 'Corrections  /r/corrections.csv'],
  ] as const)('says so when there are %s', (_, over, line) => {
    expect(table(over as Partial<BatchResult>)).toContain(line);
    expect(table()).not.toContain(line);
    expect(table({ counts: { ...LOST, rowsLost: 0 } }).join('\n')).not.toContain('LOST');
  });

  async function linesOf(state: BatchResult['state'], report: string): Promise<readonly string[]> {
    const json = join(await temporaryDirectory(), 'report.json');
    await writeFile(json, report);
    return table({ state, counts: {}, reports: { ...REPORTS, json } }).slice(1, -2);
  }

  it.each<[string, object, BatchResult['state'], readonly string[]]>([
    ['why it was refused', {}, 'refused', ['  why']],
    ['nothing that a terminal takes for a command', { message: 'a\u001B[2Jb\nc' }, 'refused', ['  a [2Jb c']],
    ['no warning', { severity: 'warning' }, 'refused', []],
    ['nothing more where it was not refused', {}, 'finished', []],
    ['how thousands were read', { severity: 'warning', code: 'thousands-grouped' }, 'finished', ['  why']],
  ])('says of the file, out of its report, %s', async (_, finding, state, lines) => {
    const fileFindings = [{ severity: 'error', code: 'c', message: 'why', ...finding }];

    expect(await linesOf(state, JSON.stringify({ fileFindings }))).toEqual(lines);
  });

  it('names five reasons at most, and none of a report that cannot be read', async () => {
    const fileFindings = Array.from({ length: 9 }, (_, at) => ({ severity: 'error', code: 'x', message: `${at}` }));

    expect(await linesOf('refused', JSON.stringify({ fileFindings }))).toHaveLength(5);
    expect(await linesOf('refused', '{')).toEqual([]);
    expect(table({ state: 'refused', counts: {} })).toHaveLength(3);
  });
});

describe('the end of a command that waited for batches', () => {
  it.each([
    ['none', [], 0],
    ['one that is issued', [ISSUED], 0],
    ['another and an issued', [SOME, ISSUED], 1],
    ['a refused one among others', [ISSUED, REFUSED, SOME], 2],
  ])('has the exit code of the worst: %s', (_, results, exitCode) => {
    const { stdout, stderr } = printed();

    expect(printResults(results, false)).toBe(exitCode);
    expect(stdout()).toBe(results.map((result) => `${summaryTable(result)}\n`).join(''));
    expect(stderr()).toBe('');
  });

  it('is one JSON document, with the exit code of each batch, and of a retry only where there was one', () => {
    const { stdout } = printed();
    const more = {
      attachedTo: 'workflow-x',
      revision: 3,
      changes: [{ from: 'unknown', to: 'issued', invoices: 1 }],
      retried: { moved: 1, refused: { 'generations-spent': 2 } },
    } as const;

    printResults([{ ...ISSUED, ...more }, REFUSED], true);

    expect(stdout().endsWith('}\n')).toBe(true);
    const first = { id: 'batch-a', file: 'a.csv', state: 'finished', exitCode: 0, counts: ISSUED.counts, ...more };
    const second = { id: 'batch-c', file: 'a.csv', state: 'refused', exitCode: 2, counts: { rows: 1 } };
    expect(JSON.parse(stdout())).toEqual({
      batches: [
        { ...first, reports: REPORTS },
        { ...second, reports: REPORTS },
      ],
    });
  });
});
