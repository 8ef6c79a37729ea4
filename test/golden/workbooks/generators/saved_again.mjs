// Writes `sheetjs.xlsx`: one invoice for each number format, and one in a hidden row. LibreOffice has saved it again:
//   soffice --headless --convert-to xlsx|ods sheetjs.xlsx
//   soffice --headless --convert-to 'csv:Text - txt - csv (StarCalc):59,34,76,1,,0,false,true,true' sheetjs.xlsx
import { writeFileSync } from 'node:fs';
import { utils, write } from '@e965/xlsx';

const HEADER =
  'invoice_ref merchant_nif customer_name customer_tax_id currency description quantity unit_price tax_code'.split(' ');
const FORMATS = [
  ...[['General', 12.5], ['0.00', 12.5], ['#,##0.00', 1234.5], ['#,##0', 1234], ['0.000', 1.549]],
  ...[['#,##0.00 "€"', 12.5], ['[$€-816] #,##0.00', 12.5], ['#,##0.00 [$€-816]', 1234.5], ['"EUR" 0.00', 12.5]],
  ...[['#,##0.00\\ "EUR"', 12.5]],
  ...[['_-* #,##0.00 [$€-816]_-;-* #,##0.00 [$€-816]_-;_-* "-"?? [$€-816]_-;_-@_-', 12.5]],
  ...[['[$£-809]#,##0.00', 12.5], ['[$$-409]#,##0.00', 12.5], ['"USD" 0.00', 12.5], ['0.00 [$zł-415]', 12.5]],
  ...[['[$R$-416] #,##0.00', 12.5], ['[$¥-411]#,##0', 1250], ['#,##0.00,', 12500], ['0.0,,', 12500000]],
  ...[['0%', 0.23], ['0.00%', 0.235], ['0.00E+00', 12.5], ['# ?/?', 12.5], ['0.00" un"', 12.5]],
  ...[['"Preço: "0.00', 12.5], ['0.00;"menos" 0.00', -12.5], ['0.00;(0.00)', -12.5], ['0.00;[Red]-0.00', -12.5]],
  ...[['#,##0.00;;', -12.5], [';;;', 12.5], ['[>100]0.00;"pouco"', 12.5], ['dd/mm/yyyy', 46327], ['[h]:mm', 0.5]],
  ...[['0.00" €/kg"', 12.5]],
];
const row = (ref, text, price) => [ref, '501964843', 'Ana', '', 'EUR', text, 1, price, 'IVA_23'];
const rows = FORMATS.map(([, value], at) => row(`F${String(at + 1).padStart(2, '0')}`, `Formato ${at + 1}`, value));
const sheet = utils.aoa_to_sheet([HEADER, ...rows, row('H1', 'Escondida', 12.5)]);
for (const [at, [format]] of FORMATS.entries()) sheet[utils.encode_cell({ r: at + 1, c: 7 })].z = format;
sheet['!rows'] = [];
sheet['!rows'][FORMATS.length + 1] = { hidden: true };
const workbook = utils.book_new();
utils.book_append_sheet(workbook, sheet, 'Faturas');
writeFileSync('sheetjs.xlsx', write(workbook, { type: 'buffer', bookType: 'xlsx' }));
