import { describe, expect, it } from 'vitest';
import type { CellRole } from '../../../../src/domain/invoice.ts';
import { cellValue, exactNumber } from '../../../../src/ingest/workbook/sheet-records.ts';
import { builtInFormat, parseNumberFormat } from '../../../../src/ingest/workbook/number-format.ts';
import { serialDate } from '../../../../src/ingest/workbook/xlsx-sheet-handler.ts';
import { readTypedNumber, typedNumber } from '../../../../src/ingest/invoice/read-number.ts';

function saidOf(text: string, code: string, role: CellRole): string {
  const format = parseNumberFormat(code);
  const value = cellValue({ kind: 'number', text, format, formula: false }, role);
  return value.note === undefined ? value.text : `${value.text} ${value.note.code}`;
}

describe('a number cell', () => {
  it.each([
    ['0.10000000000000001', 'General', '0.1'],
    ['1E-3', 'General', '0.001'],
    ['-0', 'General', '0'],
    ['12.340000000000002', '0.00', '12.34, cleaned'],
    ['12.340000000000002', 'General', 'not-exact'],
    ['12.340000000000002', '0.0', 'not-exact'],
    ['123456789012345.67', '0.00', 'not-exact'],
    ['1234567890123456', '0.00', 'not-exact'],
    ['12.3400000000000000001', '0.00', 'not-exact'],
    ['12.500000000000000000000', 'General', '12.5'],
    ['1e999', 'General', 'not-a-number'],
    ['0x10', 'General', 'not-a-number'],
    ['', 'General', 'not-a-number'],
  ])('%s shown as %s is %s', (text, code, expected) => {
    const exact = exactNumber(text, parseNumberFormat(code).digits?.decimals ?? null);

    expect(exact.ok ? exact.value + (exact.cleaned ? ', cleaned' : '') : exact.reason).toBe(expected);
  });

  it.each<readonly [CellRole, string, string, string]>([
    ['tax-number', '501964843', 'General', '501964843'],
    ['tax-number', '501964844', 'General', '501964844 tax-number-not-proved'],
    ['tax-number', '1964843', '000000000', '001964843'],
    ['tax-number', '501964843', '"PT"0', '501964843 number-format-adds-text'],
    ['tax-number', '501964843.5', 'General', '501964843.5 tax-number-not-proved'],
    ['reference', '42', '00000', '00042'],
    ['reference', '-42', 'General', '-42 reference-damaged'],
    ['reference', '1234567890123000', 'General', '1234567890123000 reference-damaged'],
    ['reference', '20240001', '0000-0000', '20240001 number-format-adds-text'],
    ['reference', '20240001', '0000(0000)', '20240001 number-format-adds-text'],
    ['reference', '20240001', '0000+0000', '20240001 number-format-adds-text'],
    ['reference', '20240001', '0000 0000', '20240001 number-format-adds-text'],
    ['reference', '20240001', '0000\\ 0000', '20240001 number-format-adds-text'],
    ['reference', '20240001', '0000_-0000', '20240001 number-format-adds-text'],
    ['reference', '20240001', '0000/0000', '20240001 number-format-adds-text'],
    ['reference', '20240001', '-0', '20240001 number-format-adds-text'],
    ['reference', '20240001', '0.00E+00', '20240001 number-format-adds-text'],
    ['reference', '20240000', '0,', '20240000 number-format-adds-text'],
    ['reference', '20240001', '#,##0', '20240001'],
    ['reference', '20240001', '_-* 0_-;-* 0_-', '20240001'],
    ['reference', '20240001', '0 ;(0)', '20240001'],
    ...[
      '#,##0.00,',
      '0.00,"k"',
      '\\-0.00',
      '0.00" por 100"',
      '0.00\\%',
      '# ?/?',
      ';;;',
      '[>10000]0.0,"k";0.00',
      '0" dz"',
    ].map((code) => ['number', '12500', code, '12500 number-format-adds-text'] as const),
    ...['#,##0.00\\ "kr"', '#,##0.00\\ [$zł-415]', '[$usd]\\ #,##0.00', '[$₹-4009]\\ #,##0.00'].map(
      (code) => ['number', '12500', code, '12500 number-format-adds-text'] as const,
    ),
    ['number', '-5', '0.00;0.00', '-5 number-format-adds-text'],
    ['number', '0.4', '0', '0.4 number-format-adds-text'],
    ['number', '-5', '#,##0.00_);(#,##0.00)', '-5'],
    ['text', '0.23', '0%', '23%'],
    ['text', '23', '"IVA_"0', '23 number-format-adds-text'],
    ['number', '12.5', '[$€-816] #,##0.00', '€125e-1'],
    ['number', '12.345', '0.00', '12345e-3 number-shown-rounded'],
    ['number', '0.5', '0%', '0.5 number-format-adds-text'],
  ])('as a %s: %s shown as %s is %s', (role, text, code, expected) => {
    expect(saidOf(text, code, role)).toBe(expected);
  });

  it.each(['0', '-12', '0.05', '-1234.5', '1000000'])('%s comes back from the form that it waits in', (number) => {
    expect(readTypedNumber(typedNumber(number, '€'))).toBe(`€${number}`);
    expect(readTypedNumber(typedNumber(number, '')) ?? number).toBe(number);
  });
});

describe('a number format', () => {
  it.each([
    ['dd/mm/yyyy', 'date'],
    ['[h]:mm', 'date'],
    ['[Red]0.00', 'number'],
    ['"day" 0', 'other'],
    ['0.00E+00', 'other'],
    ['_-* #,##0.00\\ "€"_-;-* #,##0.00\\ "€"_-', 'number'],
    ['General', 'general'],
    ['@', 'general'],
    ['0.0%', 'percent'],
  ])('%s is of the kind %s', (code, kind) => {
    expect(parseNumberFormat(code).kind).toBe(kind);
  });

  it('that a file names by number only is known', () => {
    expect(builtInFormat(14).kind).toBe('date');
    expect(builtInFormat(4).digits?.decimals).toBe(2);
    expect(builtInFormat(163)).toMatchObject({ kind: 'general', digits: { decimals: null } });
  });
});

it.each([
  [1, 1900, '1900-01-01'],
  [60, 1900, '1900-02-29'],
  [61, 1900, '1900-03-01'],
  [46054, 1900, '2026-02-01'],
  [44592, 1904, '2026-02-01'],
  [46054.5, 1900, '2026-02-01T12:00:00'],
  [0.25, 1900, '06:00:00'],
  [-1, 1900, null],
  [3_000_000, 1900, null],
] as const)('a day number %d counted from %d is %s', (serial, epoch, date) => {
  expect(serialDate(serial, epoch)).toBe(date);
});
