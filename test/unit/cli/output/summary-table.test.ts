import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { refusalLines } from '../../../../src/cli/output/refusal-lines.ts';
import { summaryTable } from '../../../../src/cli/output/summary-table.ts';
import { OUTCOMES } from '../../../../src/domain/invoice-state.ts';
import type { BatchResult } from '../../../../src/contract/messages.ts';

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
  const directory = await mkdtemp(join(tmpdir(), 'lote-summary-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const path = join(directory, 'report.json');
  await writeFile(path, text);
  return path;
}

describe('the summary of a batch', () => {
  it('names what happened, how many rows it is made of, and where the report is', () => {
    expect(table()).toEqual([
      'Batch batch-sample-1a2b3c4d: finished',
      '  issued                 3',
      '  invoices               3   from 5 rows',
      'Report       /r/report.html',
    ]);
  });

  it('says how the file differs from its declared control totals', () => {
    expect(table({ totalsDiffer: 'expected 4 invoices, found 3' })).toContain(
      '  CONTROL TOTALS differ: expected 4 invoices, found 3',
    );
  });

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

  it.each(OUTCOMES)('has a line for %s, with its count at the right edge', (state) => {
    const lines = table({ counts: { rows: 1, invoices: 1, [state]: 12_345_678 } });

    expect(lines[1]).toBe(`  ${state}${' '.repeat(16 - state.length)}12345678`);
  });

  it.each([
    [
      'rows without an invoice',
      { counts: { rows: 3, invoices: 1, rowsWithoutInvoice: 2 } },
      '  rows without invoice 2',
    ],
    [
      'rows that are lost',
      { counts: { rows: 3, invoices: 1, rowsWithoutInvoice: 2, rowsLost: 1 } },
      '  LOST ROWS 1: without a usable reference or tax number, in no invoice',
    ],
    [
      'what changed since the last report',
      { changes: [{ from: 'unknown', to: 'issued', invoices: 2 }] },
      '  changed: 2 from unknown to issued',
    ],
    ['who had the file', { attachedTo: 'other-workflow' }, '  another run had this file: other-workflow'],
    [
      'where to correct rows',
      { reports: { ...REPORTS, corrections: '/r/corrections.csv' } },
      'Corrections  /r/corrections.csv',
    ],
  ] as const)('says so when there are %s', (_, over, line) => {
    expect(table(over as Partial<BatchResult>)).toContain(line);
    expect(table()).not.toContain(line);
  });

  it('does not speak of lost rows where all rows without an invoice are totals rows', () => {
    const lines = table({ counts: { rows: 3, invoices: 1, issued: 1, rowsWithoutInvoice: 1, rowsLost: 0 } });

    expect(lines.join('\n')).not.toContain('LOST');
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

  it('reads no report of a batch that was not refused', async () => {
    const json = await reportFile(JSON.stringify({ fileFindings: [{ severity: 'error', message: 'a bad row' }] }));

    expect(table({ reports: { ...REPORTS, json } }).join('\n')).not.toContain('a bad row');
  });
});

describe('the reasons of a refusal', () => {
  it('are the first five errors: the report has them all', async () => {
    const fileFindings = Array.from({ length: 7 }, (_, at) => ({ severity: 'error', message: `reason ${at + 1}` }));
    const json = await reportFile(JSON.stringify({ fileFindings }));

    expect(refusalLines(json)).toEqual(['  reason 1', '  reason 2', '  reason 3', '  reason 4', '  reason 5']);
  });

  it.each([
    ['is no JSON', '{"fileFindings":'],
    ['is of another shape', '{"fileFindings":[{"severity":"error"}]}'],
  ])('are none when the report %s', async (_, text) => {
    expect(refusalLines(await reportFile(text))).toEqual([]);
  });

  it('are none when the report is on another machine', () => {
    expect(refusalLines('/nowhere/report.json')).toEqual([]);
  });
});
