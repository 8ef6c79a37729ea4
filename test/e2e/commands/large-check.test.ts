import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { forTest } from '../../support/lifetime.ts';
import { COMMAND, newPlace, startCommand } from '../../support/lote/lote-command.ts';
import { xlsxParts, zipOf } from '../../support/files/workbook-file.ts';

/** What Node may use; a start and a small check take a quarter of it. */
const HEAP_MB = 200;
const ROWS = 30_000;
const HEADER = 'invoice_ref,merchant_nif,customer_name,currency,description,quantity,unit_price,tax_code';
const text = (value: string): string => `<c t="inlineStr"><is><t>${value}</t></is></c>`;

/** Two megabytes of which reading makes 240 MB of texts: what differs in each row keeps the archive from looking made to grow. */
function hostile(): Buffer {
  const header = `<row r="1">${HEADER.split(',').map(text).join('')}</row>`;
  const long = 'x'.repeat(8_000);
  const rows = Array.from({ length: ROWS }, (_, at) => {
    const texts = [`F${at}`, '501964843', 'Ana', 'EUR', `${randomBytes(30).toString('hex')}${long}`].map(text).join('');
    return `<row r="${at + 2}">${texts}<c><v>1</v></c><c><v>2.5</v></c>${text('IVA_23')}</row>`;
  });
  return zipOf(Object.entries(xlsxParts(header + rows.join(''))));
}

describe('a check', () => {
  it('of a workbook that does not fit into the memory says so, and is not ended by it', async () => {
    const place = await forTest(newPlace());
    const path = join(place.directory, 'hostile.xlsx');
    await writeFile(path, hostile());

    const command = [process.execPath, `--max-old-space-size=${HEAP_MB}`, COMMAND, 'check', path];
    const env = { PATH: process.env['PATH'] ?? '', ...place.env };
    const { code, signal, stderr } = await startCommand(command, { env }).end;

    expect([code, signal], stderr).toEqual([64, null]);
    expect(stderr).toMatch(
      /^lote: Checking a file: a check keeps its rows in memory, in at most \d+ MB, found more up to row \d+\. Nothing of it was checked/u,
    );
    expect(stderr).toContain('NODE_OPTIONS=--max-old-space-size=');
  });
});
