import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { ingestedText, removeTemporaryFiles } from '../unit/ingest/ingested.ts';
import type { Ingested } from '../unit/ingest/ingested.ts';
import { propertyRuns } from './property-runs.ts';

afterAll(removeTemporaryFiles);

const IDENTITY_FIRST = 'invoice_ref merchant_nif customer_name description quantity unit_price tax_code'.split(' ');
const TEXT_FIRST = 'description customer_name Notas invoice_ref merchant_nif quantity unit_price tax_code'.split(' ');

/** The same files each time: three faults in one record may still hide a row, which is for a longer run (`PROPERTY_SEED`) to find. */
const SEED = 32;

/** Portuguese, whose last digit proves them, and one of another country. */
const TAX_NUMBERS = ['501964843', '502757191', '12345678903'];

/** Texts as programs write them that know nothing of quotes: delimiters without any, and stray ones. */
function text(delimiter: string): fc.Arbitrary<string> {
  const word = fc.constantFrom('Ana', 'Cabo 3m', 'Silva', '');
  const two = fc.tuple(word, word).map((words) => words.join(delimiter));
  const some = fc.oneof({ weight: 12, arbitrary: word }, { weight: 1, arbitrary: two });
  return fc.oneof(
    { weight: 14, arbitrary: some },
    { weight: 2, arbitrary: some.map((words) => `"${words}`) },
    { weight: 2, arbitrary: some.map((words) => `${words}"`) },
    { weight: 1, arbitrary: fc.tuple(some, some).map((lines) => `"${lines.join('\n')}"`) },
  );
}

/** A line of the file; `ref`: the reference that it shows, null for a blank one. */
interface Line {
  readonly ref: string | null;
  readonly text: string;
}

/** Header, and the lines below it. Rows may lack their last cells, and end with delimiters, each in its way. */
const damagedFile: fc.Arbitrary<{ readonly header: string; readonly lines: readonly Line[] }> = fc
  .record({
    delimiter: fc.constantFrom(',', ';', '\t', '|'),
    titles: fc.constantFrom(IDENTITY_FIRST, TEXT_FIRST),
    headerEnd: fc.constantFrom(0, 0, 1, 3),
    rowEnd: fc.constantFrom(0, 0, 1, 3),
  })
  .chain(({ delimiter, titles, headerEnd, rowEnd }) => {
    const identity = Math.max(titles.indexOf('invoice_ref'), titles.indexOf('merchant_nif')) + 1;
    const row = fc.record({
      merchant_nif: fc.constantFrom(...TAX_NUMBERS),
      customer_name: text(delimiter),
      description: text(delimiter),
      Notas: text(delimiter),
      tax_code: fc.constantFrom('IVA_23', 'IVA_23', ''),
      end: fc.oneof({ weight: 8, arbitrary: fc.constant(rowEnd) }, { weight: 1, arbitrary: fc.nat({ max: 2 }) }),
      kept: fc.oneof(
        { weight: 8, arbitrary: fc.constant(titles.length) },
        { weight: 1, arbitrary: fc.integer({ min: identity, max: titles.length }) },
      ),
      blank: fc.option(fc.constantFrom('', ' ', delimiter, delimiter.repeat(titles.length)), { freq: 9 }),
    });
    return fc.array(row, { minLength: 1, maxLength: 6 }).map((rows) => ({
      header: titles.join(delimiter) + delimiter.repeat(headerEnd),
      lines: rows.flatMap(({ end, kept, blank, ...cells }, at): Line[] => {
        const shown: Readonly<Record<string, string>> = {
          ...cells,
          ...{ invoice_ref: `A${at}`, quantity: '1', unit_price: '10.00' },
        };
        const written = titles.slice(0, kept).map((title) => shown[title] ?? '');
        const line = { ref: `A${at}`, text: written.join(delimiter) + delimiter.repeat(end) };
        return blank === null ? [line] : [{ ref: null, text: blank }, line];
      }),
    }));
  });

/** Lines of a text that a person wrote, in quotes: delimiters with a space behind them, and numbers of any kind; fewer delimiters than make a row. */
function writtenText(delimiter: string): fc.Arbitrary<string> {
  const number = fc.constantFrom(
    '501964843',
    '912345675',
    '00351 912345678',
    '5601234567890',
    '20261101',
    '3',
    '10.00',
  );
  const word = fc.constantFrom('Ana', 'NIF', 'Pedido 12', 'Lisboa', 'Rua A 2');
  const line = fc
    .array(fc.oneof(number, word), { maxLength: 3 })
    .map((parts) => parts.join(`${delimiter === '\t' ? ' -' : delimiter} `));
  return fc.array(line, { minLength: 1, maxLength: 4 }).map((lines) => `"${lines.join('\n')}"`);
}

/** A file without a fault in its quotes. Rows may lack a tax number. */
const honestFile: fc.Arbitrary<string> = fc
  .record({
    delimiter: fc.constantFrom(',', ';', '\t', '|'),
    titles: fc.constantFrom(IDENTITY_FIRST, TEXT_FIRST, ['Obs', ...IDENTITY_FIRST, 'Notas']),
    end: fc.constantFrom(0, 0, 1, 4),
    title: fc.boolean(),
  })
  .chain(({ delimiter, titles, end, title }) => {
    const written = writtenText(delimiter);
    const row = fc.record({
      invoice_ref: fc.nat({ max: 99 }).map((at) => `A${at}`),
      merchant_nif: fc.oneof({ weight: 8, arbitrary: fc.constantFrom(...TAX_NUMBERS) }, fc.constantFrom('', 'abc')),
      ...{ customer_name: written, description: written, Notas: written, Obs: written },
      ...{ quantity: fc.constant('1'), unit_price: fc.constant('10.00'), tax_code: fc.constant('IVA_23') },
    });
    const lineOf = (cells: readonly string[]) => cells.join(delimiter) + delimiter.repeat(end);
    return fc.tuple(written, fc.array(row, { minLength: 1, maxLength: 4 })).map(([above, rows]) => {
      const lines = rows.map((cells: Readonly<Record<string, string>>) =>
        lineOf(titles.map((name) => cells[name] ?? '')),
      );
      return `${[...(title ? [above] : []), lineOf(titles), ...lines].join('\n')}\n`;
    });
  });

/** References of rows that neither an invoice shows, nor a finding or an invoice names by the number of their row. */
function vanished(lines: readonly Line[], { result, invoices }: Ingested): readonly string[] {
  const refs = invoices.map((invoice) => (invoice.ok ? invoice.invoice.ref : invoice.ref));
  const named = [...invoices.flatMap(({ rows }) => rows), ...result.findings.map(({ row }) => row)];
  let next = 2;
  return lines.flatMap(({ ref, text: line }) => {
    const row = next;
    next += line.split('\n').length;
    return ref === null || refs.includes(ref) || named.includes(row) ? [] : [ref];
  });
}

describe('a CSV file with stray quotes, stray delimiters, short rows and blank ones', () => {
  it('sends nothing, or has each row in an invoice or a finding', async () => {
    let sent = 0;
    await fc.assert(
      fc.asyncProperty(damagedFile, async ({ header, lines }) => {
        const content = `${[header, ...lines.map((line) => line.text)].join('\n')}\n`;

        const read = await ingestedText(content, { constants: { currency: 'EUR' } });

        if (!read.invoices.some(({ ok }) => ok)) return;
        sent += 1;
        expect(vanished(lines, read)).toEqual([]);
      }),
      { seed: SEED, ...propertyRuns(500) },
    );
    expect(sent).toBeGreaterThan(0);
  });
});

describe('a CSV file with texts of several lines', () => {
  it('is refused for none of its quotes', async () => {
    let read = 0;
    await fc.assert(
      fc.asyncProperty(honestFile, async (content) => {
        const { result } = await ingestedText(content, { constants: { currency: 'EUR' } });

        if (result.ok) read += 1;
        expect(result.findings.map(({ code }) => code)).not.toContain('quote-misplaced');
      }),
      { seed: SEED, ...propertyRuns(300) },
    );
    expect(read).toBeGreaterThan(0);
  });
});
