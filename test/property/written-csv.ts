import fc from 'fast-check';
import iconv from 'iconv-lite';
import type { Invoice } from '../../src/domain/invoice.ts';
import { COLUMNS, REQUIRED_COLUMNS, type Column } from '../../src/domain/row.ts';
import { HEADERS } from './headers.ts';
import { narrow, numberStyle, writtenNumber } from './written-number.ts';
import type { NumberStyle } from './written-number.ts';

/** A program that writes CSV: everything in which two of them differ. */
export interface CsvStyle {
  readonly delimiter: string;
  /** One after the other; files that went through several programs have several. */
  readonly lineEnds: readonly string[];
  readonly encoding: Encoding;
  readonly quotes: 'all' | 'needed';
  readonly sepLine: boolean;
  readonly preamble: readonly string[];
  readonly headers: Readonly<Record<Column, string>>;
  /** Order of the columns in the file: a permutation of COLUMNS with columns of no meaning in it. */
  readonly order: readonly (Column | 'Notas' | 'Armazém')[];
  readonly repeatHeader: boolean;
  readonly emptyRows: number;
  readonly totalsRow: boolean;
  readonly finalLineEnd: boolean;
  readonly smallCurrency: boolean;
  readonly shuffle: readonly number[];
  readonly quantity: NumberStyle;
  readonly price: NumberStyle;
}

const ENCODINGS = [
  ...(['utf8', 'utf8', 'utf8-bom', 'utf16le-bom', 'utf16be-bom', 'utf16le-declared', 'utf16be-declared'] as const),
  ...(['windows-1252', 'windows-1252-declared', 'cp850-declared', 'cp850'] as const),
];

export type Encoding = (typeof ENCODINGS)[number];

export const csvStyle: fc.Arbitrary<CsvStyle> = fc
  .record({
    delimiter: fc.constantFrom(',', ';', '\t', '|'),
    lineEnds: fc.oneof(
      fc.constantFrom(['\n'], ['\r\n'], ['\r']),
      fc.array(fc.constantFrom('\n', '\r\n', '\r'), { minLength: 2, maxLength: 4 }),
    ),
    encoding: fc.constantFrom(...ENCODINGS),
    quotes: fc.constantFrom('all' as const, 'needed' as const),
    sepLine: fc.boolean(),
    preamble: fc.oneof(
      fc.constant([]),
      fc.constant(['Empresa Exemplo Lda', 'Listagem de documentos 2026', '']),
      fc.constant(['Relatório de vendas']),
    ),
    headers: fc.record(
      Object.fromEntries(COLUMNS.map((column) => [column, headerOf(column)])) as Record<Column, fc.Arbitrary<string>>,
    ),
    order: fc.shuffledSubarray([...COLUMNS, 'Notas' as const, 'Armazém' as const], {
      minLength: COLUMNS.length + 2,
      maxLength: COLUMNS.length + 2,
    }),
    repeatHeader: fc.boolean(),
    emptyRows: fc.integer({ min: 0, max: 2 }),
    totalsRow: fc.boolean(),
    finalLineEnd: fc.boolean(),
    smallCurrency: fc.boolean(),
    shuffle: fc.array(fc.nat(), { minLength: 20, maxLength: 20 }),
    quantity: numberStyle.map((style) => ({ ...style, currency: 'none' as const })),
    price: numberStyle,
  })
  .map((style) => ({
    ...style,
    // Excel's `sep=` stands in the first line, where nothing else can stand.
    preamble: style.sepLine ? [] : style.preamble,
    quantity: isNarrow(style.encoding) ? narrow(style.quantity) : style.quantity,
    price: isNarrow(style.encoding) ? narrow(style.price) : style.price,
  }));

function headerOf(column: Column): fc.Arbitrary<string> {
  return fc
    .tuple(fc.constantFrom(...HEADERS[column]), fc.constantFrom('as is', 'upper', 'lower', 'bare', 'spaced'))
    .map(([name, how]) => {
      if (how === 'upper') return name.toUpperCase();
      if (how === 'lower') return name.toLowerCase();
      if (how === 'bare') return name.normalize('NFD').replaceAll(/\p{M}/gu, '');
      return how === 'spaced' ? ` ${name.replaceAll('_', ' ')} ` : name;
    });
}

function isNarrow(encoding: Encoding): boolean {
  return encoding.startsWith('windows') || encoding.startsWith('cp');
}

/** What the operator declares with the file; empty: it must prove itself. */
export function declaredEncoding(encoding: Encoding): { readonly encoding?: string } {
  return encoding.endsWith('-declared') ? { encoding: encoding.replace('-declared', '') } : {};
}

/** Rows of the table in the order in which the file has them: those of an invoice may lie apart. */
function rowsOf(invoices: readonly Invoice[], style: CsvStyle): readonly Readonly<Partial<Record<Column, string>>>[] {
  const rows = invoices.flatMap(({ ref, merchant, customer, currency, lines }) =>
    lines.map((line) => ({
      invoice_ref: ref,
      merchant_nif: merchant.nif,
      merchant_legal_name: merchant.legalName ?? '',
      merchant_email: merchant.email ?? '',
      customer_name: customer.name,
      customer_tax_id: customer.taxId ?? '',
      currency: style.smallCurrency ? currency.toLowerCase() : currency,
      description: line.description,
      quantity: writtenNumber(line.quantity, style.quantity, currency),
      unit_price: writtenNumber(line.unitPrice, style.price, currency),
      tax_code: line.taxCode,
    })),
  );
  // Lines of one invoice keep their order: the service gets them as the file has them.
  const queues = new Map<string, (typeof rows)[number][]>();
  for (const row of rows) {
    const key = JSON.stringify([row.merchant_nif, row.invoice_ref]);
    queues.set(key, [...(queues.get(key) ?? []), row]);
  }
  return style.shuffle.reduce<(typeof rows)[number][]>((taken, drawn, at) => {
    const open = [...queues.values()].filter((queue) => queue.length > 0);
    const last = at === style.shuffle.length - 1;
    if (last) return [...taken, ...open.flat()];
    const next = open[drawn % Math.max(open.length, 1)]?.shift();
    return next === undefined ? taken : [...taken, next];
  }, []);
}

export function writtenCsv(invoices: readonly Invoice[], style: CsvStyle): Buffer {
  const rows = rowsOf(invoices, style);
  const order = style.order.filter(
    (column) =>
      !COLUMNS.includes(column as Column) ||
      REQUIRED_COLUMNS.includes(column as Column) ||
      rows.some((row) => (row[column as Column] ?? '') !== ''),
  );
  const header = order.map((column) => style.headers[column as Column] ?? column);
  const body = rows.map((row) => order.map((column) => row[column as Column] ?? 'x'));
  const middle = Math.ceil(body.length / 2);
  const table = [
    header,
    ...body.slice(0, middle),
    ...(style.repeatHeader ? [header] : []),
    ...body.slice(middle),
    ...(style.totalsRow ? [order.map((column) => totalsCell(column))] : []),
    ...Array.from({ length: style.emptyRows }, () => order.map(() => '')),
  ];
  const lines = table.map((cells) => cells.map((cell) => quoted(cell, style)).join(style.delimiter));
  const all = [...(style.sepLine ? [`sep=${style.delimiter}`] : []), ...style.preamble, ...lines];
  const text = all
    .map((line, at) => (at === all.length - 1 && !style.finalLineEnd ? line : line + lineEndOf(style, at)))
    .join('');
  return encoded(text, style.encoding);
}

function lineEndOf({ lineEnds }: CsvStyle, at: number): string {
  return lineEnds[at % lineEnds.length] ?? '\n';
}

function totalsCell(column: string): string {
  return column === 'customer_name' ? 'Total geral' : column === 'unit_price' ? '99.999,99' : '';
}

function quoted(cell: string, { delimiter, quotes }: CsvStyle): string {
  const needed = cell.includes(delimiter) || /["\r\n]/.test(cell);
  return quotes === 'all' || needed ? `"${cell.replaceAll('"', '""')}"` : cell;
}

export function encoded(text: string, encoding: Encoding): Buffer {
  const addBOM = encoding.endsWith('-bom');
  return iconv.encode(text, encoding.replace(/-bom$|-declared$/, ''), { addBOM });
}
