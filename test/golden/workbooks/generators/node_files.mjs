// Writes corpus files with SheetJS, ExcelJS and hucre: node node_files.mjs FOLDER
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { writeFileSync } from 'node:fs';

const require = createRequire(join(process.cwd(), 'package.json'));
const out = process.argv[2];
const H = ['invoice_ref', 'merchant_nif', 'customer_name', 'currency', 'description', 'quantity', 'unit_price', 'tax_code'];
const row = (ref, { nif = '501964843', customer = 'Ana', currency = 'EUR', text = 'Pão', quantity = 1, price = 2.5, code = 'IVA_23' } = {}) => [ref, nif, customer, currency, text, quantity, price, code];

const XLSX = require('@e965/xlsx');
function sheetjs(name, rows, change = () => undefined, options = {}) {
  const book = XLSX.utils.book_new();
  const sheet = XLSX.utils.aoa_to_sheet([H, ...rows]);
  XLSX.utils.book_append_sheet(book, sheet, 'Sheet1');
  change(sheet, book);
  XLSX.writeFile(book, join(out, name), options);
}
sheetjs('sheetjs.xlsx', [row('F1'), row('F2', { price: 0.1 + 0.2 }), row('F3', { price: 1e-3, quantity: 1e3 })]);
sheetjs('sheetjs-shared-strings.xlsx', [row('F1'), row('F2', { text: 'Pão' })], undefined, { bookSST: true, compression: true });
sheetjs('sheetjs.ods', [row('F1'), row('F2', { price: 1234.5 })]);
sheetjs('sheetjs-noise.xlsx', [row('F1', { price: 4.35 * 100 }), row('F2', { price: 1.1 + 2.2 }), row('F3', { price: 0.7 + 0.1 })], (sheet) => {
  sheet.G2.z = '0.00';
  sheet.G3.z = '#,##0.00';
});
sheetjs('sheetjs-merged-and-formula.xlsx', [row('F1'), row('F2', { customer: 'Rui' }), row('F3', { customer: 'Eva' })], (sheet) => {
  sheet.G3 = { t: 'n', f: '1+1.5', v: 2.5 };
  sheet['!merges'] = [{ s: { r: 1, c: 4 }, e: { r: 1, c: 5 } }];
});

const ExcelJS = require('exceljs');
async function exceljs(name, rows, change = () => undefined, properties = {}) {
  const book = new ExcelJS.Workbook();
  Object.assign(book.properties, properties);
  const sheet = book.addWorksheet('Faturas');
  sheet.addRows([H, ...rows]);
  change(sheet, book);
  await book.xlsx.writeFile(join(out, name));
}
await exceljs('exceljs.xlsx', [row('F1'), row('F2', { price: 1234567.89 })]);
await exceljs('exceljs-formula-and-hidden.xlsx', [row('F1'), row('F2'), row('F3', { customer: 'Eva' })], (sheet) => {
  sheet.getCell('G2').value = { formula: '2*1.25', result: 2.5 };
  sheet.getCell('G3').value = { formula: '1/0', result: { error: '#DIV/0!' } };
  sheet.getRow(4).hidden = true;
});
await exceljs('exceljs-1904.xlsx', [row('F1'), row(new Date(Date.UTC(2026, 1, 1)), { customer: 'Rui' })], undefined, { date1904: true });
await exceljs('exceljs-second-header.xlsx', [row('F1'), H, row('F2', { price: 3 })]);
{
  const book = new ExcelJS.stream.xlsx.WorkbookWriter({ filename: join(out, 'exceljs-stream.xlsx'), useSharedStrings: false });
  const sheet = book.addWorksheet('Faturas');
  for (const cells of [H, row('F1'), row('F1', { text: 'Bolo', price: 12.345 })]) sheet.addRow(cells).commit();
  await book.commit();
}

const hucre = await import(join(process.cwd(), 'node_modules/hucre/dist/index.mjs'));
const sheets = [{ name: 'Faturas', rows: [H, row('F1'), row('F2', { quantity: 2, price: 99.9 })] }];
writeFileSync(join(out, 'hucre.xlsx'), await hucre.writeXlsx({ sheets }));
writeFileSync(join(out, 'hucre.ods'), await hucre.writeOds({ sheets }));
