import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Outcome } from '../../src/domain/invoice-state.ts';
import type { Invoice } from '../../src/domain/invoice.ts';
import type { GroupedInvoice } from '../../src/domain/row.ts';
import type { IngestOptions } from '../../src/ingest/ingest-options.ts';
import type { IngestResult } from '../../src/ingest/ingest-result.ts';
import { dialectOf } from '../../src/app/files/file-proof.ts';
import { toInvoices } from '../../src/ingest/invoice/to-invoice.ts';
import { planCorrections } from '../../src/report/corrections/corrections-plan.ts';
import { csvCorrections, jsonCorrections } from '../../src/report/corrections/write-corrections.ts';
import { keptFile } from '../../src/app/files/kept-files.ts';
import { originalOf } from '../../src/app/files/original-of.ts';
import { readOnceConfirmed } from '../support/files/confirmed-layout.ts';
import { batchInvoice, portionsOf } from '../unit/report/batch-invoices.ts';
import { invoiceTable } from './invoice-table.ts';
import { propertyRuns } from './property-runs.ts';
import { csvStyle, declaredEncoding, writtenCsv, type CsvStyle } from './written-csv.ts';
import { jsonStyle, writtenJson } from './written-json.ts';
import type { NumberStyle } from './written-number.ts';
import type { BatchInvoice } from '../../src/domain/records/batch-record.ts';

let directory: string;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'lote-corrections-'));
  mkdirSync(join(directory, 'profiles'));
});

afterAll(() => rmSync(directory, { recursive: true, force: true }));

interface Ingested {
  readonly read: IngestResult;
  readonly invoices: readonly GroupedInvoice[];
}

/** Keeps the bytes where a batch keeps them, and reads them as a batch does. */
async function ingest(
  bytes: Uint8Array,
  options: Pick<IngestOptions, 'encoding' | 'decimal'> & { profile?: string } = {},
): Promise<Ingested> {
  const path = keptFile(directory, createHash('sha256').update(bytes).digest('hex'));
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, bytes);
  const { read, store } = await readOnceConfirmed({ path, file: 'invoices.csv', inputDir: directory, options });
  const invoices: GroupedInvoice[] = [];
  if (read.ok) for await (const group of store.groups()) invoices.push(...toInvoices(group, read.conversion));
  return { read, invoices };
}

const STATES: readonly Outcome[] = [
  'issued',
  'failed',
  'rejected',
  'unknown',
  'unsettled',
  'accepted',
  'held',
  'conflict',
  'already-issued',
];
/** Written down again, and not asked of the product: whom a better file can help, and who may be alive at the service. */
const HANDED_BACK: ReadonlySet<Outcome> = new Set(['failed', 'rejected', 'conflict', 'invalid']);

function outcomeOf(grouped: GroupedInvoice, drawn: number): BatchInvoice {
  const { rows } = grouped;
  const named = { rows, ref: refOf(grouped), merchantNif: grouped.ok ? grouped.invoice.merchant.nif : grouped.nif };
  const reason = { code: 'refused', message: '=cmd|"x"; a, b\r\nc' };
  if (!grouped.ok) return batchInvoice({ ...named, state: 'invalid', reason, findings: grouped.findings });
  const state = STATES[drawn % STATES.length] ?? 'failed';
  return batchInvoice({
    ...named,
    state,
    reason: state === 'held' && drawn % 2 === 0 ? { ...reason, code: 'merchant-details-missing' } : reason,
  });
}

function refOf(grouped: GroupedInvoice): string {
  return grouped.ok ? grouped.invoice.ref : grouped.ref;
}

async function correctionsOf({ read }: Ingested, outcomes: readonly BatchInvoice[]): Promise<Buffer> {
  const plan = await planCorrections(portionsOf(outcomes), read.findings);
  const { sha256, proof } = read;
  const original = await originalOf({ file: 'invoices.csv', state: 'finished', sha256, proof }, directory);
  if (original === null || original.kind === 'sheet') throw new Error('The file is not kept');
  const pieces: Buffer[] = [];
  for await (const piece of original.kind === 'csv' ? csvCorrections(original, plan) : jsonCorrections(original, plan))
    pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces);
}

/** All that an invoice says; of an invalid one also why, apart from the rows it stands in. */
function contentOf(grouped: GroupedInvoice): unknown {
  if (grouped.ok) return grouped.invoice;
  const { ref, nif, currency, net, findings } = grouped;
  const all = findings.map(({ code, column }) => `${code} ${column}`);
  // That a line may be missing can rest on the end of the whole file, which the corrections do not have; the invoice stays invalid.
  const others = all.filter((one) => !one.startsWith('line-may-be-missing '));
  return { ref, nif, currency, net, codes: others.length > 0 ? others : all };
}

/** Reads, hands back, reads, hands all of that back, reads: the same words each time, and nobody else's. */
async function expectIdentity(
  bytes: Uint8Array,
  states: readonly number[],
  options: Parameters<typeof ingest>[1],
): Promise<boolean> {
  const first = await ingest(bytes, options);
  if (!first.read.ok) return false;
  const outcomes = first.invoices.map((grouped, at) => outcomeOf(grouped, states[at % states.length] ?? 0));
  const back = first.invoices.filter((_, at) => {
    const outcome = outcomes[at];
    return (
      outcome !== undefined && (HANDED_BACK.has(outcome.state) || outcome.reason?.code === 'merchant-details-missing')
    );
  });

  const handedBack = await correctionsOf(first, outcomes);
  const second = await ingest(handedBack);

  expect(second.invoices.map(contentOf)).toEqual(back.map(contentOf));
  if (back.length === 0) return false;
  expect(second.read.ok).toBe(true);
  expect(dialectWords(second.read)).toEqual(dialectWords(first.read));
  const third = await ingest(
    await correctionsOf(
      second,
      second.invoices.map((grouped) => ({ ...outcomeOf(grouped, 0), state: grouped.ok ? 'rejected' : 'invalid' })),
    ),
  );
  expect(third.invoices.map(contentOf)).toEqual(back.map(contentOf));
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

/** As the profile or an operator says; a file with another decimal mark is refused, and hands nothing back. */
function withMark(style: NumberStyle, mark: ',' | '.'): NumberStyle {
  return { ...style, mark, grouping: style.grouping === mark ? (mark === ',' ? '.' : ',') : style.grouping };
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
        const encoding = style.encoding.startsWith('utf16') ? style.encoding : 'utf8';
        const { quantity, price } = style;
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
});
