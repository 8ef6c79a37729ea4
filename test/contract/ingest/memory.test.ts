import { execFile } from 'node:child_process';
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compiledProcess } from '../../support/compiled-process.ts';
import { HEADER } from '../../unit/ingest/ingested.ts';

const PROCESS = await compiledProcess(new URL('../../support/reading-process.ts', import.meta.url));
/** The promise of the product; the process loads what reading needs and nothing else. */
const MOST_ABOVE_IDLE_MB = 150;
/** V8's young generation as Node 20 has it; Node 24 lets it grow twice as large, whatever is read. */
const NODE_OPTIONS = ['--expose-gc', '--max-semi-space-size=16'];
const LINES_AT_ONCE = 10_000;

let directory: string;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'lote-memory-'));
});

afterAll(() => rmSync(directory, { recursive: true, force: true }));

interface Measured {
  readonly ok: boolean;
  readonly rows: number;
  readonly aboveIdleMb: number;
}

async function readingOf(name: string, text: Iterable<string>): Promise<Measured> {
  const path = join(directory, name);
  await pipeline(text, createWriteStream(path));
  const { stdout } = await promisify(execFile)(process.execPath, [...NODE_OPTIONS, PROCESS, path]);
  rmSync(path);
  return JSON.parse(stdout) as Measured;
}

/** Each invoice has words of its own: nothing that is kept of one can be shared with the next. */
function* csv(rows: number): Generator<string> {
  yield `${HEADER}\n`;
  yield* inPortions(
    rows,
    (at) => `F/${at},501964843,Cliente ${at},EUR,"Artigo ""${at}""",${1 + (at % 7)},${at % 90}.25,IVA_23\n`,
  );
}

function* json(
  rows: number,
  frame: { readonly before: string; readonly between: string; readonly after: string },
): Generator<string> {
  yield frame.before;
  yield* inPortions(
    rows,
    (at) =>
      `${at === 0 ? '' : frame.between}{"invoice_ref":"F/${at}","merchant":{"nif":"501964843"},"customer":{"name":"Cliente ${at}"},"currency":"EUR","lines":[{"description":"Artigo ${at}","quantity":${1 + (at % 7)},"unit_price":${at % 90}.25,"tax_code":"IVA_23"}]}`,
  );
  yield frame.after;
}

function* inPortions(rows: number, textOf: (at: number) => string): Generator<string> {
  for (let from = 0; from < rows; from += LINES_AT_ONCE)
    yield Array.from({ length: Math.min(LINES_AT_ONCE, rows - from) }, (_, at) => textOf(from + at)).join('');
}

describe('a file of any size is read in little memory', () => {
  // A million rows take about ten seconds on a free core, and a test machine is never free.
  it('1,000,000 rows of CSV', { timeout: 180_000 }, async () => {
    const read = await readingOf('rows.csv', csv(1_000_000));

    expect(read).toMatchObject({ ok: true, rows: 1_000_000 });
    expect(read.aboveIdleMb).toBeLessThan(MOST_ABOVE_IDLE_MB);
  });

  it.each([
    ['NDJSON', { before: '', between: '\n', after: '\n' }],
    ['a JSON array', { before: '[\n', between: ',\n', after: '\n]' }],
    ['one object with all invoices', { before: '{"invoices":[', between: ',', after: ']}' }],
  ])('200,000 invoices of %s', { timeout: 180_000 }, async (_, frame) => {
    const read = await readingOf('invoices.json', json(200_000, frame));

    expect(read).toMatchObject({ ok: true, rows: 200_000 });
    expect(read.aboveIdleMb).toBeLessThan(MOST_ABOVE_IDLE_MB);
  });
});
