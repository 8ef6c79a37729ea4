import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import type { IngestOptions } from '../../../../src/ingest/ingest-result.ts';
import { keepCopy } from '../../../../src/app/files/kept-files.ts';
import { originalOf } from '../../../../src/app/files/original-of.ts';
import { keptDirectory } from '../../../support/files/confirmed-layout.ts';
import { HEADER, csvRow, ingested, temporaryFile, removeTemporaryFiles } from '../../ingest/ingested.ts';

afterAll(removeTemporaryFiles);

const FOLDER = fileURLToPath(new URL('../../../golden/ingest/', import.meta.url));

const directory = keptDirectory();

/** What the corrections of a file are made of: records of CSV below the header, or objects of JSON. */
async function records(path: string, options: IngestOptions = {}): Promise<readonly object[]> {
  const { result } = await ingested(path, options);
  await keepCopy(path, directory);
  // The proof comes back from a ledger as JSON.
  const proof = JSON.parse(JSON.stringify(result.proof)) as typeof result.proof;
  const batch = { file: basename(path), state: 'finished', sha256: result.sha256, proof } as const;
  const original = await originalOf(batch, directory);
  if (original === null || original.kind === 'sheet') throw new Error('expected a kept text');
  const found: object[] = [];
  for await (const record of original.kind === 'csv' ? original.records : original.objects) found.push(record);
  return found;
}

describe('the records of a kept file', () => {
  it('finds a header behind more blank rows and titles than are tried first', async () => {
    const above = `Export\n${'\n'.repeat(5_000)}${'x'.repeat(5_000)}\n`;
    const path = temporaryFile(`${above}${HEADER}\n${csvRow({})}\n`);

    expect(await records(path)).toMatchObject([{ row: 5_004 }]);
  });

  it('gives the cells of each record below the header, untouched', async () => {
    const path = temporaryFile(
      `Preamble\r\n${HEADER}\r\n${csvRow({ description: '" Pão, ""x"" "' })}\r\n\r\n${csvRow({ ref: 'F2' })}\r\n`,
    );

    expect(await records(path)).toMatchObject([
      { row: 3, cells: ['F1', '501964843', 'Ana', 'EUR', ' Pão, "x" ', '1', '2.50', 'IVA_23'] },
      { row: 4, cells: [''] },
      { row: 5, cells: ['F2', '501964843', 'Ana', 'EUR', 'Pão', '1', '2.50', 'IVA_23'] },
    ]);
  });

  it('gives JSON objects as exact text, with the ordinals of their lines', async () => {
    const first = '{"invoice_ref":"F1","merchant":{"nif":"501964843"},"x":1.10,"lines":[{"a":1e2},{}]}';
    const second = '{"lines":[]}';

    expect(await records(temporaryFile(`[ ${first} ,\n7, ${second} ]`))).toEqual([
      {
        rows: [1, 2],
        members: [
          ['invoice_ref', '"F1"'],
          ['merchant', '{"nif":"501964843"}'],
          ['x', '1.10'],
          ['lines', '[{"a":1e2},{}]'],
        ],
      },
      { rows: [3], members: [] },
      { rows: [4], members: [['lines', '[]']] },
    ]);
  });

  it('numbers rows as the first reading did, on every accepted file of the corpus', async () => {
    const names = readdirSync(FOLDER).filter(
      (name) => name.endsWith('.out') && readFileSync(FOLDER + name, 'utf8').startsWith('accepted'),
    );
    expect(names.length).toBeGreaterThan(40);
    for (const name of names) {
      const path = `${FOLDER}${name.slice(0, -4)}.in`;
      const declared = `${FOLDER}${name.slice(0, -4)}.options`;
      const options = existsSync(declared) ? (JSON.parse(readFileSync(declared, 'utf8')) as IngestOptions) : {};
      const { invoices } = await ingested(path, options);
      const kept = await records(path, options);
      const found = new Set(kept.flatMap((one) => ('row' in one ? [one.row] : 'rows' in one ? one.rows : [])));

      for (const { rows } of invoices) for (const row of rows) expect(found.has(row), `${name} row ${row}`).toBe(true);
    }
  });
});
