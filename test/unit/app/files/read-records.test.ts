import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import type { IngestOptions } from '../../../../src/ingest/ingest-options.ts';
import { readRecords, type OriginalRecord } from '../../../../src/app/files/read-records.ts';
import { HEADER, csvRow, ingested, temporaryFile, removeTemporaryFiles } from '../../ingest/ingested.ts';

afterAll(removeTemporaryFiles);

const FOLDER = fileURLToPath(new URL('../../../golden/ingest/', import.meta.url));

async function records(path: string, options: IngestOptions = {}): Promise<readonly OriginalRecord[]> {
  const { result } = await ingested(path, options);
  const found: OriginalRecord[] = [];
  // The proof comes back from a ledger as JSON.
  for await (const record of readRecords(path, JSON.parse(JSON.stringify(result.proof)) as typeof result.proof))
    found.push(record);
  return found;
}

describe('readRecords', () => {
  it('finds a header behind more blank rows and titles than are tried first', async () => {
    const above = `Export\n${'\n'.repeat(5_000)}${'x'.repeat(5_000)}\n`;
    const path = temporaryFile(`${above}${HEADER}\n${csvRow({})}\n`);

    expect(await records(path)).toMatchObject([{ kind: 'csv', row: 5_004 }]);
  });

  it('gives the cells of each record below the header, untouched', async () => {
    const path = temporaryFile(
      `Preamble\r\n${HEADER}\r\n${csvRow({ description: '" Pão, ""x"" "' })}\r\n\r\n${csvRow({ ref: 'F2' })}\r\n`,
    );

    expect(await records(path)).toEqual([
      { kind: 'csv', row: 3, cells: ['F1', '501964843', 'Ana', 'EUR', ' Pão, "x" ', '1', '2.50', 'IVA_23'] },
      { kind: 'csv', row: 4, cells: [''] },
      { kind: 'csv', row: 5, cells: ['F2', '501964843', 'Ana', 'EUR', 'Pão', '1', '2.50', 'IVA_23'] },
    ]);
  });

  it('gives JSON objects as exact text, with the ordinals of their lines', async () => {
    const first = '{"invoice_ref":"F1","merchant":{"nif":"501964843"},"x":1.10,"lines":[{"a":1e2},{}]}';
    const second = '{"invoice_ref":"F2","merchant":{"nif":"501964843"},"lines":[]}';

    expect(await records(temporaryFile(`[ ${first} ,\n7, ${second} ]`))).toEqual([
      { kind: 'json', rows: [1, 2], text: first },
      { kind: 'json', rows: [3], text: '7' },
      { kind: 'json', rows: [4], text: second },
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
      const found = new Set(
        (await records(path, options)).flatMap((record) => (record.kind === 'csv' ? [record.row] : record.rows)),
      );

      for (const { rows } of invoices) for (const row of rows) expect(found.has(row), `${name} row ${row}`).toBe(true);
    }
  });
});
