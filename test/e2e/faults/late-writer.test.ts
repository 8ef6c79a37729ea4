import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeInvoiceFile } from '../../support/files/batch-file.ts';
import { shared } from '../../support/lifetime.ts';
import { lotePlace, nightIn, readJson, type CommandReport } from '../../support/lote/running-lote.ts';

/** Writes the first rows of the file that its arguments name, says so, and goes on with the same open file at a word. */
const WRITER = `
const { openSync, readFileSync, writeSync } = require('node:fs');
const [from, to, rows] = process.argv.slice(1);
const lines = readFileSync(from, 'utf8').split(/(?<=\\n)/u);
const out = openSync(to, 'w');
writeSync(out, lines.slice(0, Number(rows)).join(''));
process.stdout.write('paused');
process.stdin.once('data', () => { writeSync(out, lines.slice(Number(rows)).join('')); process.exit(0); });
`;

/** Header, the first lines of ten invoices, and the second line of the first of them. */
const ROWS_AT_ONCE = 12;
const INVOICES = 10;

describe('a writer that paused for longer than Lote waits, and went on in the archived file', () => {
  const place = shared(() => lotePlace({ temporal: 'own' }));
  let writer: ChildProcess;
  let archived: string;
  let first: ReturnType<typeof nightIn>;

  beforeAll(async () => {
    const whole = join(place.directory, 'whole.csv');
    await writeInvoiceFile(whole, { invoices: INVOICES, linesEach: 2 });
    const dropped = join(place.inputDir, 'late.csv');
    writer = spawn(process.execPath, ['-e', WRITER, whole, dropped, String(ROWS_AT_ONCE)], { stdio: 'pipe' });
    await once(writer.stdout ?? writer, 'data');
    first = await nightNow();
    const [date = ''] = await readdir(join(place.inputDir, 'archive'));
    archived = join(place.inputDir, 'archive', date, 'late.csv');
    writer.stdin?.write('go on');
    await once(writer, 'exit');
  });

  afterAll(() => void writer.kill('SIGKILL'));

  const nightNow = async () => nightIn(await place.run('nightly', 'now', '--json'));

  async function firstReport(): Promise<CommandReport> {
    const batches = (await readdir(place.reportsDir)).filter((name) => name.startsWith('batch-'));
    expect(batches).toHaveLength(1);
    return readJson(join(place.reportsDir, batches[0] ?? '', 'report.json'));
  }

  it('is told by reconciliation and the next night, until the grown file is dropped again', async () => {
    const reconciled = await place.run('reconcile');
    const report = await firstReport();
    const next = await nightNow();
    await copyFile(archived, join(place.inputDir, 'late.csv'));
    const grown = await nightNow();
    const quiet = await nightNow();

    expect(first).toMatchObject({ files: 1, problems: 0, waiting: 0 });
    expect(reconciled.code, reconciled.stderr).toBe(0);
    expect(report.fileFindings).toContainEqual(
      expect.objectContaining({ code: 'archived-file-changed', severity: 'error' }),
    );
    expect(next).toMatchObject({ files: 0, waiting: 1 });
    const { runs } = await readJson<{ runs: { waiting: object[] }[] }>(next.reports.json);
    expect(runs[1]?.waiting).toEqual([
      { name: expect.stringMatching(/^archive\/.*\/late\.csv$/u) as string, reason: 'changed' },
    ]);
    // The first invoice went out whole, and each of the others without its second line: that is told as a conflict.
    expect(grown).toMatchObject({ files: 1, problems: 1, waiting: 0 });
    expect(quiet).toMatchObject({ files: 0, waiting: 0 });
    const { duplicates, totals } = place.sandbox.books();
    expect({ duplicates, invoices: totals.invoices }).toEqual({ duplicates: [], invoices: INVOICES });
  });
});
