import { invoiceBody } from '../../../src/service/profile/body-template.ts';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { Finding } from '../../../src/domain/invoice.ts';
import type { GroupedInvoice } from '../../../src/domain/row.ts';
import type { IngestOptions } from '../../../src/ingest/ingest-result.ts';
import type { Ingested } from './ingested.ts';
import { ingested, ingestedAsIs } from './ingested.ts';

/**
 * Every `<case>.in` is a file as it may be dropped; `<case>.out` is all that Lote says of it: findings, and of each valid invoice its
 * identity and the exact bytes of its request.
 * A file with headers of its own asks for its columns first; the proposal is saved, and then it reads as agreed.
 * `<case>.options`, where there is one, holds what an operator or a profile declares. The extensions keep formatters away from them.
 */
const FOLDER = fileURLToPath(new URL('../../golden/ingest/', import.meta.url));
const CASES = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.in'))
  .map((name) => basename(name, '.in'));

/** What is agreed of these is the question itself: to save the proposal would leave a discount out. */
const ASKS = ['discount-abbreviated', 'discount-not-sent', 'header-duplicate', 'json-discount-not-sent'];

function said({ result, invoices }: Ingested): string {
  const lines = [
    result.ok
      ? `accepted ${result.format}, ${result.rows} rows, ${result.rowsWithoutInvoice} without invoice`
      : `refused after ${result.rows} rows`,
    ...result.findings.map((finding) => shown(finding)),
    ...(result.ok
      ? [
          `encoding ${JSON.stringify(result.proof['encoding'])}`,
          `decimal ${JSON.stringify(result.proof['decimal'] ?? null)}`,
        ]
      : []),
    ...invoices.flatMap((invoice) => invoiceLines(invoice)),
  ];
  return `${lines.join('\n')}\n`;
}

function invoiceLines(invoice: GroupedInvoice): string[] {
  const findings = invoice.findings.map((finding) => `  ${shown(finding)}`);
  if (invoice.ok)
    return [
      '',
      `valid, rows ${invoice.rows.join(' ')}, ref ${JSON.stringify(invoice.invoice.ref)}, merchant ${JSON.stringify(invoice.invoice.merchant)}`,
      ...findings,
      `  ${invoiceBody(invoice.invoice, 'mrc_of_the_merchant')}`,
    ];
  return [
    '',
    `invalid, rows ${invoice.rows.join(' ')}, ref ${JSON.stringify(invoice.ref)}, nif ${invoice.nif}, net ${invoice.net} ${invoice.currency}`,
    ...findings,
  ];
}

function shown({ severity, code, row, column, message }: Finding): string {
  return `${severity} ${code} [row ${row}, column ${column}] ${message}`;
}

describe('ingest corpus', () => {
  it('holds at least 80 cases', () => {
    expect(CASES.length).toBeGreaterThanOrEqual(80);
  });

  it.each(CASES)('%s reads as agreed', async (name) => {
    const options = `${FOLDER}${name}.options`;
    const declared = existsSync(options) ? (JSON.parse(readFileSync(options, 'utf8')) as IngestOptions) : {};
    const path = `${FOLDER}${name}.in`;
    const isAnswered = existsSync(options) || ASKS.includes(name);
    const read = await (isAnswered ? ingestedAsIs(path, declared) : ingested(path));

    await expect(said(read)).toMatchFileSnapshot(`${FOLDER}${name}.out`);
  });
});
