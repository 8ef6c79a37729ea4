/**
 * What each file of the corpus says, worked out by a person from the file alone: reference, merchant and currency where they are not
 * those of most cases (501964843, EUR), and quantity*price of each line of every invoice that may go out. A case that is not here must
 * send nothing.
 */
export const GOLDEN_VALUES: Readonly<Record<string, readonly string[]>> = {
  ...same(
    ['F1: 1*2.5'],
    'apostrophe-kept-elsewhere blank-records cp850-declared formula-kept header-english header-extra-columns ' +
      'header-hostile header-mixed-case header-no-break-space header-portuguese header-portuguese-with-particles ' +
      'header-quoted-with-spaces header-reordered header-spanish invisible-in-text-kept iso-8859-15-declared ' +
      'json-bom json-invoices json-nif-as-number json-null-tax-id json-other-members json-proto-key ' +
      'json-record-not-object json-single-object json-tax-code-mapped json-unknown-members json-without-identity ' +
      'lost-row-alone-at-the-end nif-excel-fraction nif-excel-scientific nif-with-letters nif-with-spaces ' +
      'outer-space-trimmed pipe preamble preamble-of-an-erp product-called-total profile-columns ' +
      'profile-constant-column-ignored profile-constant-merchant-named profile-constants quoted-delimiter-and-quote ' +
      'replacement-character semicolon semicolon-with-commas-in-text sep-line sep-line-semicolon-utf16 ' +
      'subtotal-row-portuguese tab tax-code-unusual text-misread-before totals-row ' +
      'totals-row-under-the-label-column utf16be-bom utf16be-without-bom utf16le-bom utf16le-without-bom utf8-bom ' +
      'windows-1252 windows-1252-french windows-1252-no-break-space',
  ),
  ...same(
    ['F1: 1*2.5', 'F2: 1*2.5'],
    'blank-lines cr-only crlf header-repeated lost-row-of-another-customer lost-row-of-another-merchant ' +
      'mixed-line-ends-cr-first ndjson same-content-two-refs trailing-delimiters-everywhere trailing-empty-cells',
  ),
  ...same(
    ['F2: 1*2.5'],
    'amount-percent amount-scientific amount-too-long amount-two-points amount-unit-beside control-character ' +
      'json-lines-empty json-lines-not-a-list json-nif-as-fraction lost-row-in-the-first-row ' +
      'lost-row-nif-damaged-same-reference nif-only-on-first-line',
  ),
  ...same(
    ['F3: 1*2.5'],
    'amount-two-signs lost-row-reference-on-first-line-only quantity-with-currency reference-excel-date',
  ),
  ...same(['F1: 1*1234.5'], 'windows-1252-german windows-1252-spanish'),
  ...same(['F1: 1*2.5', 'F3: 1*2.5'], 'row-too-long row-too-short'),
  'amount-float-noise': ['F1: 1*12.340000000000002'],
  'amount-french': ['F1: 1*1234.56', 'F2: 1*1234.56'],
  'amount-leading-point': ['F1: 1*0.5'],
  'amount-negative': ['F1: -1*2.5 1*-0.5'],
  'amount-signs': ['F1: 1*-1234.5 1*-12.5 1*-3.5 1*7.25'],
  'amount-swiss': ['F1: 1*1234.5', 'F2: 1*1234.5'],
  'amount-very-long': ['F1: 123456789012345678901234567890.000000000000000000000000000001*2.5'],
  'amount-zero': ['F1: 0*2.5 1*0'],
  'currency-dollar-of-a-euro-invoice': ['F2 USD: 1*12.5', 'F4 BRL: 1*12.5'],
  'currency-in-price': ['F1: 1*12.5 1*12.5 1*12.5'],
  'both-columns-ambiguous-one-proved': ['F1: 1000*1000'],
  'decimal-comma-proved': ['F1: 1*1234.56 1*1234'],
  'decimal-declared': ['F1: 1*1234'],
  'decimal-unproved-comma': ['F1: 1.5*2.5'],
  'thousands-in-quantity-unproved': ['F1: 1*2.5'],
  'decimal-integers': ['F1: 1*12 1*7'],
  'decimal-point-proved': ['F1: 1*1234.56 1*1234'],
  'decimal-two-groups-prove': ['F1: 1*1234567'],
  'duplicate-rows-kept': ['F1: 1*2.5 1*2.5'],
  'full-width-digits': ['F1: 2*12.5'],
  'grouping-apostrophe': ['F1: 1*1234.5 1*1234'],
  'grouping-spaces': ['F1: 1*1234.56 1*1234 1*12345.6'],
  'discount-ignored': ['F1: 1*2.5', 'F2: 1*2.5', 'F3: 1*2.5', 'F4: 1*2.5 1*2.5'],
  'formula-as-text': ['F3: 1*2.5'],
  'json-array': ['F1: 1*2.5', 'F2: 1*2 0.1*3'],
  'json-exact-numbers': ['F1: 0.1000000000000000055511151231257827*123456789012345678901234567890 1500*2.5'],
  'json-surrogate-pair': ['F😀: 1*2.5'],
  'json-text-beside-token': ['F1: 1*1.5', 'F2: 2*1.234'],
  'json-text-comma-proved': ['F1: 1*1234.5', 'F2: 2*1234'],
  'json-text-declared': ['F1: 1*1234'],
  'merchant-details-differ': ['F1: 1*2.5 1*2.5'],
  'mixed-line-ends': ['F1: 1*2.5', 'F2: 1*2.5', 'F3: 1*2.5'],
  'nif-checksum-wrong': ['F1 of 501964844: 1*2.5'],
  'own-corrections-file': ['=F1: -1*2.5'],
  'own-corrections-number-inert': ['F1: -12*2.5', 'F2: -1*2.5'],
  'plain-all-columns': ['F1: 3*1.2'],
  'plain-comma': ['F1: 1*2.5 2*2.5', 'F2: 1*2.5'],
  'profile-reference-ambiguous': ['A/1/1: 1*2.5'],
  'profile-reference-built': ['A/1: 1*2.5', 'A/2: 1*2.5', 'B/1: 1*2.5'],
  'profile-reference-part-empty': ['A/1: 1*2.5'],
  'profile-tax-codes': ['F1: 1*2.5', 'F2: 1*2.5', 'F4: 1*2.5'],
  'quoted-line-ends': ['F1: 1*2.5 2*2.5', 'F2: 1*2.5'],
  'reference-case-differs': ['F1: 1*2.5', 'f1: 1*2.5'],
  'reference-digits-cut-kept': ['12345678901234500: 1*2.5', '12345678901234600: 1*2.5'],
  'reference-digits-one-zero': ['1234567890123450: 1*2.5'],
  'reference-digits-whole': ['12345678901234500: 1*2.5', '12345678901234567: 1*2.5'],
  'reference-excel-month': ['MAR-24: 1*2.5'],
  'same-ref-two-merchants': ['F1: 1*2.5', 'F1 of 508341274: 1*2.5'],
  'scattered-rows': ['F1: 1*2.5 1*2.5', 'F2: 1*2.5 1*2.5'],
  'spreadsheet-errors': ['F4: 1*2.5'],
  'values-hostile': ['__proto__: 1*2.5'],
};

function same(values: readonly string[], cases: string): Record<string, readonly string[]> {
  return Object.fromEntries(cases.split(' ').map((name) => [name, values]));
}
