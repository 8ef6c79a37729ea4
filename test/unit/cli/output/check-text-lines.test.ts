import { describe, expect, it } from 'vitest';
import { checkText } from '../../../../src/cli/output/check-text.ts';
import type { Finding } from '../../../../src/domain/invoice.ts';
import type { CheckedFile } from '../../../../src/wiring/files/check-file.ts';

const CLEAN: CheckedFile = {
  ...{ file: 'input/a.csv', refused: false, sha256: 'ab', proof: {}, rows: 5, rowsWithoutInvoice: 0, rowsLost: 0 },
  ...{ invoices: 3, invalid: 0, net: { EUR: '30' }, netOfValid: { EUR: '30' }, withoutAmount: 0 },
  ...{ findings: [], firstBodies: [], firstInvoices: [], gate: null },
};

function text(over: Partial<CheckedFile>): string {
  return checkText({ ...CLEAN, ...over });
}

function finding(severity: Finding['severity'], code: string, message: string): Finding {
  return { row: 2, column: null, code, message, severity };
}

describe('what a dry run says first', () => {
  it.each([
    ['a clean file', {}, 'input/a.csv: 3 invoices from 5 rows, 0 invalid'],
    ['bad rows', { invalid: 2 }, 'input/a.csv: 3 invoices from 5 rows, 2 invalid'],
    [
      'rows that no invoice has',
      { rowsLost: 2, rowsWithoutInvoice: 3 },
      'input/a.csv: 3 invoices from 5 rows, 0 invalid, 2 ROWS LOST',
    ],
    ['a refused file', { refused: true, rows: 9 }, 'input/a.csv: REFUSED, nothing of it would be sent'],
  ])('of %s', (_, over, headline) => {
    expect(text(over).split('\n')[0]).toBe(headline);
  });

  it('is followed by why nothing would be sent, if so', () => {
    const lines = text({ gate: 'The file does not have the control totals it was started with.' }).split('\n');

    expect(lines[1]).toBe('  NOTHING WOULD BE SENT: The file does not have the control totals it was started with.');
  });
});

describe('the control totals of a dry run', () => {
  it('are those of a clean file', () => {
    expect(text({})).toBe(
      [
        'input/a.csv: 3 invoices from 5 rows, 0 invalid',
        '  control totals, to compare with the source:',
        '    rows         5, of them in no invoice 0 (totals rows 0, lost 0)',
        '    invoices     3, of them invalid 0',
        '    net EUR      30, of it valid 30',
      ].join('\n'),
    );
  });

  it('tell totals rows from lost ones, and what of the net is valid, by currency', () => {
    const lines = text({
      ...{ rowsWithoutInvoice: 3, rowsLost: 2, invalid: 2, withoutAmount: 1 },
      ...{ net: { EUR: '30', USD: '7.5' }, netOfValid: { EUR: '12.25' } },
    }).split('\n');

    expect(lines.slice(2)).toEqual([
      '    rows         5, of them in no invoice 3 (totals rows 1, lost 2)',
      '    invoices     3, of them invalid 2',
      '    net EUR      30, of it valid 12.25',
      '    net USD      7.5, of it valid 0',
      '    no amount    1 invoices whose amount cannot be read',
    ]);
  });

  it('are not given of a refused file: nothing of it can be counted', () => {
    expect(text({ refused: true, net: {}, netOfValid: {} })).toBe('input/a.csv: REFUSED, nothing of it would be sent');
  });
});

describe('how a file was read', () => {
  const EITHER = { mark: '.', how: 'either', witness: null };

  function proof(more: Readonly<Record<string, unknown>>): readonly string[] {
    const lines = text({ proof: more }).split('\n');
    expect(lines[1]).toBe('  read as:');
    return lines.slice(2, lines.indexOf('  control totals, to compare with the source:'));
  }

  it('is not spoken of where there is no proof', () => {
    expect(text({ proof: {} })).not.toContain('read as');
  });

  it('names profile, encoding, format, delimiter, columns and what stays behind', () => {
    const encoding = { name: 'windows-1252', how: 'assumed', bom: false, samples: ['Conceição', 'Ñandú'] };
    const header = [
      { column: 'invoice_ref', header: 'Nº fatura', position: 1 },
      { column: 'currency', header: 'Moeda', position: 4 },
    ];
    const shown = proof({
      ...{ encoding, header, ignored: ['Notas', 'IBAN'], dialect: { format: 'csv' } },
      delimiter: { value: '\t', how: 'proved', headerRow: 3 },
      profile: { name: 'erp', sha256: 'f00d', how: 'declared' },
    });

    expect(shown).toEqual([
      '    profile      erp, sha256 f00d, by declared',
      '    encoding     windows-1252, assumed: "Conceição", "Ñandú"',
      '    format       csv',
      '    delimiter    "\\t", proved; header in row 3',
      '    column       invoice_ref <- "Nº fatura" (column 1)',
      '    column       currency <- "Moeda" (column 4)',
      '    not sent     "Notas", "IBAN"',
    ]);
  });

  it('says of a byte order mark that it is one, and shows no words where none prove anything', () => {
    const encoding = { name: 'utf-8', how: 'byte-order-mark', bom: true, samples: [] };

    expect(proof({ encoding })).toEqual(['    encoding     utf-8 with byte order mark, byte-order-mark']);
  });

  it.each([
    ['no value shows it', EITHER, 'no value depends on the decimal mark'],
    [
      'a value proves a comma',
      { mark: ',', how: 'proved', witness: { row: 7, value: '12,50' } },
      'decimal comma, proved by "12,50" in row 7',
    ],
    [
      'a value proves a point',
      { mark: '.', how: 'proved', witness: { row: 7, value: '12.50' } },
      'decimal point, proved by "12.50" in row 7',
    ],
    ['it was declared', { mark: '.', how: 'declared', witness: null }, 'decimal point, declared'],
    [
      'a value speaks against it',
      {
        ...{ mark: ',', how: 'contradictory', witness: { row: 2, value: '1,5' } },
        against: { row: 9, value: '1.5' },
      },
      'decimal comma, contradictory by "1,5" in row 2; but "1.5" in row 9 is the other kind',
    ],
    [
      'another value hangs on it',
      {
        ...{ mark: ',', how: 'proved', witness: { row: 2, value: '1,5' } },
        ambiguous: { row: 4, value: '1.234' },
      },
      'decimal comma, proved by "1,5" in row 2; that decides "1.234" in row 4 too',
    ],
  ])('tells the decimal mark when %s', (_, quantity, said) => {
    expect(proof({ decimal: { quantity, unit_price: EITHER } })).toEqual([
      `    quantity     ${said}`,
      '    unit_price   no value depends on the decimal mark',
    ]);
    expect(proof({ decimal: { quantity: EITHER, unit_price: quantity } })[1]).toBe(`    unit_price   ${said}`);
  });
});

describe('the findings of a dry run', () => {
  function findings(...all: readonly Finding[]): readonly string[] {
    const lines = text({ findings: all }).split('\n');
    return lines.slice(lines.indexOf('  findings:') + 1);
  }

  it('are not spoken of where there are none', () => {
    expect(text({})).not.toContain('findings');
  });

  it('stand errors first, then warnings, then notes', () => {
    expect(
      findings(finding('info', 'note', 'n'), finding('warning', 'warn', 'w'), finding('error', 'bad', 'b')),
    ).toEqual(['    error bad (1)', '      b', '    warning warn (1)', '      w', '    info note (1)', '      n']);
  });

  it('are gathered by code, in the order in which they came', () => {
    expect(findings(finding('error', 'b', '1'), finding('error', 'a', '2'), finding('error', 'b', '3'))).toEqual([
      '    error b (2)',
      '      1',
      '      3',
      '    error a (1)',
      '      2',
    ]);
  });

  it('of one code but two severities are two things to read', () => {
    expect(findings(finding('warning', 'a', '1'), finding('error', 'a', '2'))).toEqual([
      '    error a (1)',
      '      2',
      '    warning a (1)',
      '      1',
    ]);
  });

  it('are shown three of a kind, and counted beyond that', () => {
    const same = (count: number): Finding[] =>
      Array.from({ length: count }, (_, at) => finding('error', 'same', `Row ${at + 2}`));

    expect(findings(...same(3))).toEqual(['    error same (3)', '      Row 2', '      Row 3', '      Row 4']);
    expect(findings(...same(1_000))).toEqual([
      '    error same (1000)',
      '      Row 2',
      '      Row 3',
      '      Row 4',
      '      … and 997 more (--json lists them)',
    ]);
  });
});

describe('the bytes of a dry run', () => {
  const BODY = '{"merchant":"mrc_to_be_looked_up","lines":[{"quantity":2.50}]}';

  it.each([
    ['one row', [7], 'row 7'],
    ['two rows', [7, 9], 'rows 7, 9'],
    [
      'more rows than anybody reads',
      Array.from({ length: 15 }, (_, at) => at + 2),
      'rows 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13 and 3 more',
    ],
  ])('are shown to the letter, below whose they are: %s', (_, rows, named) => {
    const firstInvoices = [{ ref: 'F/1', merchantNif: '501964843', rows }];

    expect(
      text({ firstInvoices, firstBodies: [BODY] })
        .split('\n')
        .slice(-3),
    ).toEqual([
      '  first invoices, exactly as they would be sent:',
      `    F/1 of merchant 501964843, ${named}`,
      `      ${BODY}`,
    ]);
  });
});
