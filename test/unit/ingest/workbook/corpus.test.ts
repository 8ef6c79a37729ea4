import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { Finding } from '../../../../src/domain/invoice.ts';
import type { GroupedInvoice } from '../../../../src/domain/row.ts';
import { ingested } from '../ingested.ts';
import { CORPUS_VALUES } from './corpus-values.ts';
import type { CorpusValues } from './corpus-values.ts';

/** Files written by other programs; `README.md` beside them says by which, and `generators` how. */
const FOLDER = fileURLToPath(new URL('../../../golden/workbooks/', import.meta.url));
const FILES = readdirSync(FOLDER).filter((name) => /\.(?:xlsx|xlsm|ods)$/.test(name));

function sentOf(invoice: GroupedInvoice): readonly string[] {
  if (!invoice.ok) return [];
  const { ref, lines, currency, merchant } = invoice.invoice;
  expect([merchant.nif, currency]).toEqual(['501964843', 'EUR']);
  return [`${ref}: ${lines.map(({ quantity, unitPrice }) => `${quantity}*${unitPrice}`).join(' ')}`];
}

function codesOf(findings: readonly Finding[]): readonly string[] {
  return findings.map(({ code }) => code).filter((code) => code !== 'columns-ignored');
}

describe('corpus of workbooks', () => {
  it('holds at least 40 files, each with the values that a person worked out', () => {
    expect(FILES.length).toBeGreaterThanOrEqual(40);
    expect(Object.keys(CORPUS_VALUES).toSorted()).toEqual(FILES.toSorted());
  });

  it.each(FILES)('%s reads as it was written', async (name) => {
    const { sent, held = {}, refused, said = [] }: CorpusValues = CORPUS_VALUES[name] ?? { sent: [] };

    const { result, invoices } = await ingested(FOLDER + name);

    expect(result.ok ? undefined : result.findings[0]?.code).toBe(refused);
    expect(invoices.flatMap(sentOf)).toEqual(sent);
    const wrong = invoices.filter((invoice) => !invoice.ok);
    expect(Object.fromEntries(wrong.map(({ ref, findings }) => [ref, codesOf(findings)]))).toEqual(
      Object.fromEntries(Object.entries(held).map(([ref, codes]) => [ref, expect.arrayContaining([...codes])])),
    );
    if (refused === undefined) expect(codesOf(result.findings).toSorted()).toEqual([...said].toSorted());
  });
});
