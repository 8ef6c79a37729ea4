import type { IngestOptions } from '../../../../src/ingest/ingest-result.ts';
import { odsOfContent, xlsxParts, zipOf, type Parts, type ZipChange } from '../../../support/files/workbook-file.ts';
import { HEADER, ingested, temporaryFile } from '../ingested.ts';

export const COLUMNS = HEADER.split(',');
export const LINE = ['F1', '501964843', 'Ana', 'EUR', 'Pão', '1', '2.5', 'IVA_23'];

/** A text cell of XLSX. */
export const text = (value: string): string => `<c t="inlineStr"><is><t>${value}</t></is></c>`;
export const number = (value: string): string => `<c><v>${value}</v></c>`;
export const header = `<row r="1">${COLUMNS.map(text).join('')}</row>`;

/** A row of one invoice with cells of its own by column, as XML, and `more` behind them. */
export function line(row: number, cells: Readonly<Record<string, string>> = {}, more = ''): string {
  const own: Readonly<Record<string, string>> = { quantity: number('1'), unit_price: number('2.5'), ...cells };
  return `<row r="${row}">${COLUMNS.map((column, at) => own[column] ?? text(LINE[at] ?? '')).join('')}${more}</row>`;
}

/** A header and one line. */
export const WHOLE = header + line(2);

export function xlsx(sheetData: string, more: Parts = {}, change: ZipChange = {}): Buffer {
  return zipOf(Object.entries(xlsxParts(sheetData, more)), change);
}

/** Relationships beside that of the sheet, as `xl/workbook.xml` refers to them. */
export function related(...relationships: readonly (readonly [id: string, type: string, target: string])[]): Parts {
  const all = [['r1', 'worksheet', 'worksheets/sheet1.xml'] as const, ...relationships].map(
    ([id, type, target]) => `<Relationship Id="${id}" Type="x/${type}" Target="${target}"/>`,
  );
  return { 'xl/_rels/workbook.xml.rels': `<Relationships>${all.join('')}</Relationships>` };
}

/** A `sharedStrings.xml` with this in it. */
export function shared(inside: string): Parts {
  return { ...related(['r2', 'sharedStrings', 's.xml']), 'xl/s.xml': `<sst>${inside}</sst>` };
}

/** A `styles.xml` with this in it. */
export function styles(inside: string): Parts {
  return { ...related(['r2', 'styles', 'styles.xml']), 'xl/styles.xml': `<styleSheet>${inside}</styleSheet>` };
}

export const odsCell = (value: string, attributes = ''): string =>
  `<table:table-cell office:value-type="string" ${attributes}><text:p>${value}</text:p></table:table-cell>`;
export const odsCells = (values: readonly string[]): string => values.map((value) => odsCell(value)).join('');
export const odsRow = (cells: string, attributes = ''): string =>
  `<table:table-row ${attributes}>${cells}</table:table-row>`;
export const odsTable = (inside: string): string => `<table:table table:name="A">${inside}</table:table>`;
export const ODS_HEADER = odsRow(odsCells(COLUMNS));

/** An ODS file of one sheet with this below the header. */
export function ods(rows: string, styled = '', more: Parts = {}): Buffer {
  return odsOfContent(styled + odsTable(ODS_HEADER + rows), more);
}

/** `accepted`, or the code and the message of the refusal. */
export async function outcome(file: Buffer): Promise<string> {
  const { result } = await ingested(temporaryFile(file, 'file.xlsx'));
  return result.ok ? 'accepted' : `${result.findings[0]?.code}: ${result.findings[0]?.message}`;
}

/** Reference of each invoice with the codes of what keeps it from going out; under `file`, each code of rows in no invoice once. */
export async function saidOf(
  file: Buffer,
  options: IngestOptions = {},
): Promise<Readonly<Record<string, readonly string[]>>> {
  const { result, invoices } = await ingested(temporaryFile(file, 'a.xlsx'), options);
  const codes = invoices.map((invoice): [string, readonly string[]] => [
    invoice.ok ? invoice.invoice.ref : invoice.ref,
    invoice.ok ? [] : invoice.findings.filter(({ severity }) => severity === 'error').map(({ code }) => code),
  ]);
  const ofFile = new Set(result.findings.filter(({ severity }) => severity === 'error').map(({ code }) => code));
  return { ...Object.fromEntries(codes), file: [...ofFile] };
}
