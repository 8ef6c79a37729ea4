import { fill, plainText } from '../../texts/fill.ts';
import type { Finding } from '../../domain/invoice.ts';
import type { CheckedFile } from '../../app/files/check-file.ts';
import { FileProof } from '../../app/files/file-proof.ts';
import { tableLines } from './terminal-text.ts';
import { escapeInvisible } from '../../domain/text/escape-invisible.ts';
import type { MappedColumn, MappedFile } from '../../console/console-options.ts';
import { TEXTS_EN } from '../../console/texts/en.ts';

const EXAMPLES_SHOWN = 3;
const ROWS_SHOWN = 12;
/** Formats a dry run for a person: the proof, the control totals, the findings, the bytes. */
export function checkText(file: CheckedFile): string {
  return [
    ...headline(file),
    ...section('read as', proofLines(file.proof)),
    ...(file.refused ? [] : section('control totals, to compare with the source', totalsLines(file))),
    ...section('findings', findingLines(file.findings)),
    ...section('first invoices, exactly as they would be sent', invoiceLines(file)),
  ]
    .map((line) => plainText(line))
    .join('\n');
}

function headline(file: CheckedFile): readonly string[] {
  if (file.refused) return [`${file.file}: REFUSED, nothing of it would be sent`];
  const lost = file.rowsLost === 0 ? '' : `, ${file.rowsLost} ROWS LOST`;
  const counts = `${file.file}: ${file.invoices} invoices from ${file.rows} rows, ${file.invalid} invalid${lost}`;
  return file.gate === null ? [counts] : [counts, `  NOTHING WOULD BE SENT: ${file.gate}`];
}

function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [`  ${title}:`, ...lines.map((line) => `    ${line}`)];
}

function proofLines(proof: CheckedFile['proof']): readonly string[] {
  const { encoding, delimiter, header, ignored, decimal, dialect, profile, workbook } = FileProof.parse(proof);
  return [
    ...(profile === undefined ? [] : [`profile      ${profile.name}, sha256 ${profile.sha256}, by ${profile.how}`]),
    ...(encoding === undefined ? [] : [`encoding     ${encodingText(encoding)}`]),
    ...(dialect === undefined ? [] : [`format       ${dialect.format}`]),
    ...(workbook?.sheet === undefined
      ? []
      : [`sheet        "${workbook.sheet.name}", ${workbook.sheet.how}; header in row ${workbook.sheet.headerRow}`]),
    ...(workbook?.notRead.length ? [`not read     sheets ${quoted(workbook.notRead)}`] : []),
    ...(workbook?.hidden.length ? [`hidden       sheets ${quoted(workbook.hidden)}, not read`] : []),
    ...(delimiter === undefined
      ? []
      : [`delimiter    ${JSON.stringify(delimiter.value)}, ${delimiter.how}; header in row ${delimiter.headerRow}`]),
    ...header.map(({ column, header: name, position }) => `column       ${column} <- "${name}" (column ${position})`),
    ...(ignored.length === 0 ? [] : [`not sent     ${quoted(ignored)}`]),
    ...(decimal === undefined ? [] : [`numbers      ${decimalText(decimal)}`]),
  ];
}

function quoted(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(', ');
}

function encodingText({ name, how, bom, samples }: NonNullable<FileProof['encoding']>): string {
  const words = samples.length === 0 ? '' : `: ${quoted(samples)}`;
  return `${name}${bom ? ' with byte order mark' : ''}, ${how}${words}`;
}

function decimalText({ mark, how, witness, ambiguous, thousands }: NonNullable<FileProof['decimal']>): string {
  if (how === 'either') return 'no value depends on the decimal mark';
  const shown = ({ value, row, column }: NonNullable<typeof ambiguous>) => `"${value}" in row ${row}, ${column}`;
  const name = mark === ',' ? 'decimal comma' : 'decimal point';
  const because = witness ? ` by ${shown(witness)}` : '';
  const doubt = ambiguous === undefined || thousands !== undefined ? '' : `; that decides ${shown(ambiguous)}, too`;
  return `${name}, ${how}${because}${doubt}`;
}

function totalsLines(file: CheckedFile): readonly string[] {
  return [
    `rows         ${file.rows}, of them in no invoice ${file.rowsWithoutInvoice} (totals rows ${file.rowsWithoutInvoice - file.rowsLost}, lost ${file.rowsLost})`,
    `invoices     ${file.invoices}, of them invalid ${file.invalid}`,
    ...Object.entries(file.net).map(
      ([currency, net]) => `net ${currency}      ${net}, of it valid ${file.netOfValid[currency] ?? '0'}`,
    ),
    ...(file.withoutAmount === 0 ? [] : [`no amount    ${file.withoutAmount} invoices whose amount cannot be read`]),
  ];
}

/** Names the reference above each body: the request does not contain it, and a person needs it to find the invoice in the source. */
function invoiceLines({ firstInvoices, firstBodies }: CheckedFile): readonly string[] {
  return firstInvoices.flatMap(({ ref, merchantNif, rows }, at) => [
    `${ref} of merchant ${merchantNif}, ${rows.length === 1 ? 'row' : 'rows'} ${rowList(rows)}`,
    `  ${escapeInvisible(firstBodies[at] ?? '')}`,
  ]);
}

function rowList(rows: readonly number[]): string {
  const more = rows.length - ROWS_SHOWN;
  return rows.slice(0, ROWS_SHOWN).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/** Lists errors first and groups findings by code with the first rows of each: a thousand equal findings are one line. */
function findingLines(findings: readonly Finding[]): readonly string[] {
  const groups = new Map<string, Finding[]>();
  for (const finding of findings) {
    const key = `${finding.severity} ${finding.code}`;
    groups.set(key, [...(groups.get(key) ?? []), finding]);
  }
  return (['error', 'warning', 'info'] as const).flatMap((severity) =>
    [...groups]
      .filter(([key]) => key.startsWith(`${severity} `))
      .flatMap(([key, group]) => [
        `${key} (${group.length})`,
        ...group.slice(0, EXAMPLES_SHOWN).map(({ message }) => `  ${message}`),
        ...(group.length > EXAMPLES_SHOWN ? [`  … and ${group.length - EXAMPLES_SHOWN} more (--json lists them)`] : []),
      ]),
  );
}

/** Formats the proposal for a file whose columns no person has confirmed, and the command that confirms the proposal. */
export function mappingText(file: string, mapped: MappedFile): string {
  const { columns, taxWords, missing, looks, check, suggestedName } = mapped;
  const rows = columns.map((column) => [nameOf(column), meaningOf(column), samplesOf(column)]);
  const lines = ['  proposal, which is read so once you have saved it:'];
  for (const line of tableLines([['COLUMN', 'MEANS', 'VALUES'], ...rows])) lines.push(`    ${line}`);
  for (const { word, code } of taxWords)
    lines.push(`    tax "${word}" ${code === '' ? 'is no code of the service' : `is sent as ${code}`}`);
  if (missing.length > 0)
    lines.push(
      `  no column for ${missing.join(', ')} yet: name its header in "columns" of the profile, or its value in "constants"`,
    );
  if (looks.length > 0) lines.push('  look at this first:');
  for (const { code, header, other } of looks)
    lines.push(`    - ${fill(TEXTS_EN.mapping.looks[code], { header, other })}`);
  if (check !== null) lines.push(...resultOf(check));
  lines.push(
    '  to confirm it:',
    `    lote check ${shellWord(file)} --save-profile ${suggestedName}`,
    '  To correct it, map the columns in the console, or edit the saved profile (docs/files.md).',
  );
  return lines.map((one) => plainText(one)).join('\n');
}

function nameOf({ header }: MappedColumn): string {
  return header === '' ? TEXTS_EN.mapping.unnamed : `"${header}"`;
}

function meaningOf({ meaning, kind }: MappedColumn): string {
  if (kind !== null) return `kind: skips ${kind.skip.join(', ') || 'nothing'}`;
  return meaning === 'none' ? 'NOT SENT' : meaning;
}

function samplesOf({ samples, kind }: MappedColumn): string {
  const values = kind === null ? samples : kind.invoices.map((value) => `${value} (invoice)`);
  return values.join(' · ');
}

function resultOf(check: NonNullable<MappedFile['check']>): readonly string[] {
  if (check.refused) return ['  read so, the file is refused:', `    ${check.findings[0]?.message ?? ''}`];
  const net = Object.entries(check.netOfValid).map(([currency, sum]) => `${sum} ${currency}`);
  const { invoices, rows, invalid } = check;
  return [`  read so: ${invoices} invoices from ${rows} rows, ${invalid} invalid; net ${net.join(', ') || 'none'}`];
}

/** Quotes a word for a shell if needed. */
function shellWord(word: string): string {
  return /^[\w./-]+$/u.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
