import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../../support/files/temporary-directory.ts';
import { printResults, readingLines, summaryTable } from '../../../../src/cli/output/summary-table.ts';
import type { BatchResult } from '../../../../src/domain/messages/messages.ts';
import { printed } from '../printed.ts';

const REPORTS = { json: '/r/report.json', csv: '/r/report.csv', html: '/r/report.html', corrections: null };

function result(over: Partial<BatchResult> = {}): BatchResult {
  return {
    ...{ batchId: 'batch-sample-1a2b3c4d', file: 'sample.csv', state: 'finished', reports: REPORTS, pagesFailed: 0 },
    counts: { rows: 5, invoices: 3, issued: 3 },
    ...over,
  };
}

function table(over: Partial<BatchResult> = {}): readonly string[] {
  return summaryTable(result(over)).split('\n');
}

async function reportFile(text: string): Promise<string> {
  const path = join(await temporaryDirectory(), 'report.json');
  await writeFile(path, text);
  return path;
}

describe('the summary of a batch', () => {
  it('leaves out what did not occur, and keeps one order of states', () => {
    const counts = { rows: 9, invoices: 9, 'already-issued': 1, invalid: 2, failed: 1, issued: 5, held: 0 };

    expect(table({ counts })).toEqual([
      'Batch batch-sample-1a2b3c4d: finished',
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
  });

  it('does not speak of lost rows where all rows without an invoice are totals rows', () => {
    expect(table({ counts: { ...LOST, rowsLost: 0 } }).join('\n')).not.toContain('LOST');
  });

  it('says why a file was refused, out of its report', async () => {
    const finding = (severity: string, message: string) => ({ row: 1, column: null, code: 'c', message, severity });
    const json = await reportFile(
      JSON.stringify({ fileFindings: [finding('warning', 'not this'), finding('error', 'No header was found.')] }),
    );

    expect(table({ state: 'refused', counts: { rows: 4 }, reports: { ...REPORTS, json } })).toEqual([
      'Batch batch-sample-1a2b3c4d: refused',
      '  No header was found.',
      '  invoices               0   from 4 rows',
      'Report       /r/report.html',
    ]);
  });

  it.each([
    ['has no command of a terminal', { message: 'found "a\u001B[2Jb\nc"' }, true, ['  found "a [2Jb c"']],
    ['is left to the report where nothing was refused', { message: 'a bad row' }, false, []],
    [
      'is also how thousands were read',
      { severity: 'warning', code: 'thousands-grouped', message: 'a' },
      false,
      ['  a'],
    ],
  ])('what a report says of the file %s', async (_, finding, isRefused, lines) => {
    const json = await reportFile(JSON.stringify({ fileFindings: [{ severity: 'error', code: 'c', ...finding }] }));

    expect(readingLines(json, isRefused)).toEqual(lines);
  });

  it('names five reasons at most, and none of a report that cannot be read', async () => {
    const fileFindings = Array.from({ length: 9 }, (_, at) => ({ severity: 'error', code: 'x', message: `${at}` }));

    expect(readingLines(await reportFile(JSON.stringify({ fileFindings })), true)).toHaveLength(5);
    expect(readingLines(await reportFile('{'), true)).toEqual([]);
    expect(readingLines('/nowhere/report.json', true)).toEqual([]);
  });
});

const ISSUED = result({ batchId: 'batch-a', file: 'a.csv', counts: { rows: 1, invoices: 1, issued: 1 } });
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

    expect(stdout()).toBe(`${summaryTable(ISSUED)}\n${summaryTable(SOME)}\n`);
    expect(stderr()).toBe('');
  });

  it('is one JSON document, with the exit code of each batch', () => {
    const { stdout } = printed();

    printResults([ISSUED, REFUSED], true);

    expect(stdout().endsWith('}\n')).toBe(true);
    expect(JSON.parse(stdout())).toEqual({
      batches: [
        { id: 'batch-a', file: 'a.csv', state: 'finished', exitCode: 0, counts: ISSUED.counts, reports: REPORTS },
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
