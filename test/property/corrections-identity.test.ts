import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Outcome } from '../../src/domain/invoice-state.ts';
import type { Invoice } from '../../src/domain/invoice.ts';
import type { BatchInvoice } from '../../src/domain/records/batch-record.ts';
import { COLUMNS, type GroupedInvoice } from '../../src/domain/row.ts';
import type { IngestResult } from '../../src/ingest/ingest-result.ts';
import { dialectOf } from '../../src/app/files/file-proof.ts';
import { contentOf, correctionsOf, handedBack, readKept, refusedOutcome } from '../support/files/confirmed-layout.ts';
import { odsOf, xlsxOf, type TableCell } from '../support/files/workbook-file.ts';
import { invoiceTable } from './invoice-table.ts';
import { propertyRuns } from './property-runs.ts';
import { csvStyle, declaredEncoding, writtenCsv, type CsvStyle } from './written-csv.ts';
import { jsonStyle, writtenJson } from './written-json.ts';
import { withMark } from './written-number.ts';

let directory: string;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'lote-corrections-'));
  mkdirSync(join(directory, 'profiles'));
});

afterAll(() => rmSync(directory, { recursive: true, force: true }));

const STATES: readonly Outcome[] = [
  ...(['issued', 'failed', 'rejected', 'unknown', 'unsettled', 'accepted', 'held'] as const),
  ...(['conflict', 'already-issued'] as const),
];
/** Written down again, and not asked of the product: whom a better file can help, and who may be alive at the service. */
const HANDED_BACK: ReadonlySet<Outcome> = new Set(['failed', 'rejected', 'conflict', 'invalid']);

function outcomeOf(grouped: GroupedInvoice, drawn: number): BatchInvoice {
  const refused = refusedOutcome(grouped);
  if (!grouped.ok) return refused;
  const state = STATES[drawn % STATES.length] ?? 'failed';
  const isMissing = state === 'held' && drawn % 2 === 0;
  const reason = { code: isMissing ? 'merchant-details-missing' : 'refused', message: 'refused' };
  return { ...refused, state, reason };
}

/** All that an invoice says, apart from the rows it stands in. */
function wordsOf(grouped: GroupedInvoice): unknown {
  if (grouped.ok) return contentOf(grouped);
  // That a line may be missing can rest on the end of the whole file, which the corrections do not have; the invoice stays invalid.
  const others = grouped.findings.filter(({ code }) => code !== 'line-may-be-missing');
  return contentOf(others.length > 0 ? { ...grouped, findings: others } : grouped);
}

/** Reads, hands back, reads, hands all of that back, reads: the same words each time, and nobody else's. */
async function expectIdentity(
  bytes: Uint8Array,
  states: readonly number[],
  options: Parameters<typeof readKept>[2],
): Promise<boolean> {
  const first = await readKept(directory, bytes, options);
  if (!first.read.ok) return false;
  const outcomes = first.invoices.map((grouped, at) => outcomeOf(grouped, states[at % states.length] ?? 0));
  const back = first.invoices.filter((_, at) => {
    const outcome = outcomes[at];
    return (
      outcome !== undefined && (HANDED_BACK.has(outcome.state) || outcome.reason?.code === 'merchant-details-missing')
    );
  });

  const second = await readKept(directory, await correctionsOf(directory, first.read, outcomes));

  expect(second.invoices.map(wordsOf)).toEqual(back.map(wordsOf));
  if (back.length === 0) return false;
  expect(second.read.ok).toBe(true);
  expect(dialectWords(second.read)).toEqual(dialectWords(first.read));
  const third = await readKept(directory, await handedBack(directory, second));
  expect(third.invoices.map(wordsOf)).toEqual(back.map(wordsOf));
  return true;
}

/** What of the way a file is written must come back; its own encoding where its bytes still show it. */
function dialectWords({ proof }: IngestResult): unknown {
  const { format, frame, delimiter, lineEnd } = dialectOf(proof);
  return { format, frame, delimiter, lineEnd };
}

const states = fc.array(fc.nat({ max: 999 }), { minLength: 5, maxLength: 5 });

/** An invoice that cannot go: its corrections must say the same wrong thing again. */
const broken = fc.array(fc.constantFrom('no', 'no', 'quantity', 'customer'), { minLength: 5, maxLength: 5 });

function damaged(invoices: readonly Invoice[], how: readonly string[]): readonly Invoice[] {
  return invoices.map((invoice, at) => {
    if (how[at] === 'customer') return { ...invoice, customer: { ...invoice.customer, name: '' } };
    if (how[at] !== 'quantity') return invoice;
    return { ...invoice, lines: invoice.lines.map((line) => ({ ...line, taxCode: '' })) };
  });
}

/** Names each column of the file, as a profile must: its currency is constant, and two columns have no meaning. */
function erpProfile({ headers: { currency, ...columns } }: CsvStyle): unknown {
  return {
    columns,
    constants: { currency: 'EUR' },
    ignore: [currency, 'Notas', 'Armazém'],
    taxCodes: { IVA_6: 'IVA_06', IVA_13: 'IVA_13', IVA_23: 'IVA_23' },
    decimal: ',',
  };
}

/** A spreadsheet keeps 15 digits of a number. */
function asNumber(text: string): TableCell {
  return text.replace(/\D/g, '').length <= 15 ? { number: text } : text;
}

function tableOf(invoices: readonly Invoice[], isTyped: boolean): readonly (readonly TableCell[])[] {
  const number = (text: string): TableCell => (isTyped ? asNumber(text) : text);
  const rows = invoices.flatMap(({ ref, merchant, customer, currency, lines }) =>
    lines.map(({ description, quantity, unitPrice, taxCode }): readonly TableCell[] => [
      ...[ref, merchant.nif, merchant.legalName ?? '', merchant.email ?? '', customer.name, customer.taxId ?? ''],
      ...[currency, description, number(quantity), number(unitPrice), taxCode],
    ]),
  );
  return [COLUMNS, ...rows];
}

describe('a corrections file', () => {
  it('of CSV in any dialect is what was handed back, however often it comes back', async () => {
    let compared = 0;
    await fc.assert(
      fc.asyncProperty(invoiceTable, broken, csvStyle, states, async (invoices, how, style, drawn) => {
        const bytes = writtenCsv(damaged(invoices, how), style);
        if (await expectIdentity(bytes, drawn, declaredEncoding(style.encoding))) compared += 1;
      }),
      propertyRuns(150),
    );
    expect(compared).toBeGreaterThan(10);
  });

  it.each([
    ['is read through it again', ',', {}],
    ['has the decimal mark that an operator declared against it', '.', { decimal: '.' }],
  ] as const)('of a file read through a profile %s', async (_, mark, declared) => {
    let compared = 0;
    await fc.assert(
      fc.asyncProperty(invoiceTable, csvStyle, states, async (invoices, style, drawn) => {
        const encoding = /^utf16.*-bom$/.test(style.encoding) ? style.encoding : 'utf8';
        const { quantity, price } = style;
        // A file with another decimal mark is refused, and hands nothing back.
        const numbers = { quantity: withMark(quantity, mark), price: withMark(price, mark) };
        const bytes = writtenCsv(invoices, { ...style, ...numbers, encoding });
        writeFileSync(join(directory, 'profiles', 'erp.json'), JSON.stringify(erpProfile(style)));
        if (await expectIdentity(bytes, drawn, { profile: 'erp', ...declared })) compared += 1;
      }),
      propertyRuns(200),
    );
    expect(compared).toBeGreaterThan(10);
  });

  it('of JSON in any frame is what was handed back', async () => {
    let compared = 0;
    await fc.assert(
      fc.asyncProperty(invoiceTable, broken, jsonStyle, states, async (invoices, how, style, drawn) => {
        if (await expectIdentity(writtenJson(damaged(invoices, how), style), drawn, {})) compared += 1;
      }),
      propertyRuns(100),
    );
    expect(compared).toBeGreaterThan(10);
  });

  it('of a workbook is what was handed back, however often it comes back, with the same words for what is wrong', async () => {
    let compared = 0;
    await fc.assert(
      fc.asyncProperty(
        invoiceTable,
        fc.boolean(),
        fc.constantFrom(xlsxOf, odsOf),
        async (invoices, isTyped, bookOf) => {
          const first = await readKept(directory, bookOf(tableOf(invoices, isTyped)));
          if (!first.read.ok || first.invoices.length === 0) return;
          compared += 1;

          const second = await readKept(directory, await handedBack(directory, first));
          const third = await readKept(directory, await handedBack(directory, second));

          expect(second.invoices.map(contentOf)).toEqual(first.invoices.map(contentOf));
          expect(third.invoices.map(contentOf)).toEqual(first.invoices.map(contentOf));
        },
      ),
      propertyRuns(100),
    );
    expect(compared).toBeGreaterThan(20);
  });
});
