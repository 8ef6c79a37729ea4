import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { describe, expect, it } from 'vitest';
import { memoryRowStore } from '../../../../src/ingest/row-stores.ts';
import { readWithProfile } from '../../../../src/app/files/read-with-profile.ts';
import {
  handedBack,
  invalidOf,
  keptDirectory,
  readKept,
  type ReadKept,
} from '../../../support/files/confirmed-layout.ts';
import { csvAsWorkbook, savedAsCsv, shownInOffice } from '../../../support/files/office-workbook.ts';
import { odsOfContent, xlsxParts, zipOf } from '../../../support/files/workbook-file.ts';
import { HEADER } from '../../ingest/ingested.ts';

const directory = keptDirectory();

async function ingest(content: string | Uint8Array, decimal?: '.' | ','): Promise<ReadKept> {
  return readKept(directory, Buffer.from(content), decimal === undefined ? {} : { decimal });
}

/** The table of a CSV file of corrections. */
async function corrections(found: ReadKept): Promise<string[][]> {
  return parse(await handedBack(directory, invalidOf(found)), { delimiter: [';', ','], relax_column_count: true });
}

function csvOf(table: readonly (readonly string[])[]): string {
  return table.map((cells) => `${cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(';')}\n`).join('');
}

/** With these cells written into each row, by their headers. */
function written(table: readonly string[][], cells: Readonly<Record<string, string>>): string {
  const [header = [], ...rows] = table;
  return csvOf([header, ...rows.map((row) => row.map((cell, at) => cells[header[at] ?? ''] ?? cell))]);
}

function told({ invoices }: ReadKept): readonly unknown[] {
  return invoices.map((invoice) => {
    if (invoice.ok) return `${invoice.invoice.ref} sent`;
    const errors = invoice.findings.filter(({ severity }) => severity === 'error');
    return [invoice.ref, ...errors.map(({ code }) => code)].join(' ');
  });
}

/** What is said of the file, of its corrections dropped unchanged, and of theirs. */
async function threeTimes(first: ReadKept): Promise<readonly unknown[]> {
  const second = await ingest(await handedBack(directory, invalidOf(first)));
  const third = await ingest(await handedBack(directory, invalidOf(second)));
  return [first, second, third].map(told);
}

const HEAD = 'Fatura;NIF;Cliente;Moeda;IVA;Descrição;Qtd;Un;Preço;Total;Obs';
const WHOLE = 'F1;501964843;Ana;EUR;IVA_23;Pão;3;kg;2,50;7,50;x';
const SHORT = 'F2;501964843;Ana;EUR;IVA_23;Pão;3;2,50;7,50;';
const SHORT_ROW = `${HEAD}\n${WHOLE}\n${SHORT}\n`;
const LINE = 'F1,501964843,Ana,EUR,Vela,2,-1,IVA_23';
const NO_LINE_END = `${HEADER}\n${LINE}\n${LINE.replace('F1', 'F2').replace('IVA_23', 'IVA_2')}`;

/** Rows whose price is the last cell. */
const PRICE_LAST = [HEADER, LINE].map((line) => {
  const cells = line.split(',');
  const at = HEADER.split(',').indexOf('unit_price');
  return [...cells.toSpliced(at, 1), cells[at]].join(',');
});
const MAY_BE_A_LINE = [
  'Descrição;Fatura;NIF;Cliente;Moeda;IVA;Qtd;Preço;Total',
  'Pão;F1;501964843;Ana;EUR;IVA_23;3;2,50;7,50',
  'F1;501964843;Ana;EUR;IVA_23;3;2,50;7,50\n',
];
const BEHIND_THE_HEADER = [
  'Fatura;NIF;Cliente;Moeda;IVA;Descrição;Qtd;Preço;Total;',
  'F1;501964843;Ana;EUR;IVA_23;Pão;3;x;2,50;7,50',
  'F2;501964843;Ana;EUR;IVA_23;Pão;3;4,50;2,50;7,50\n',
];

/** The file with these ends of its lines. */
const ending = (ends: string, short = SHORT): string => [HEAD, WHOLE, short].map((line) => `${line}${ends}\n`).join('');

describe('corrections are refused again as long as they are not corrected, however often they are dropped', () => {
  it.each<[string, string, readonly string[], readonly string[]]>([
    ['a row lacks a cell', SHORT_ROW, ['F1 sent'], ['F2 cell-count']],
    ['lines end with one more delimiter', ending(';'), ['F1 sent'], ['F2 cell-count']],
    ['lines end with two more delimiters', ending(';;'), ['F1 sent'], ['F2 cell-count']],
    ['they do, and the last cell is filled', ending(';', `${SHORT}x`), ['F1 sent'], ['F2 cell-count']],
    ['only the header ends so', `${HEAD};\n${WHOLE}\n${SHORT.slice(0, -1)}\n`, ['F1 sent'], ['F2 cell-count']],
    ['a cell stands behind the header', BEHIND_THE_HEADER.join('\n'), [], ['F1 cell-count', 'F2 cell-count']],
    ['a row may be a line of others', MAY_BE_A_LINE.join('\n'), [], ['F1 line-may-be-missing']],
    ['the file ends in a code, without a line end', NO_LINE_END, ['F1 sent'], ['F2 line-end-missing']],
    ['the file ends in a price, without a line end', PRICE_LAST.join('\n'), [], ['F1 line-end-missing']],
  ])('where %s', async (_, file, sent, refused) => {
    expect(await threeTimes(await ingest(file))).toEqual([[...sent, ...refused], refused, refused]);
  });
});

describe('corrections of a row that lacks a cell', () => {
  const FILE = SHORT_ROW;
  const RIGHT = { Un: 'kg', Preço: '2,50', Total: '7,50' };

  it('are refused again where only another cell was written', async () => {
    const table = await corrections(await ingest(FILE));

    const second = await ingest(written(table, { Descrição: 'Pão de milho' }));

    expect(told(second)).toEqual(['F2 cell-count']);
    expect(told(await ingest(await handedBack(directory, invalidOf(second))))).toEqual(['F2 cell-count']);
  });

  it.each([
    ['are sent', { ...RIGHT, lote_original: '' }, true],
    ['are refused again as long as lote_original says what was wrong', RIGHT, false],
  ])('when the row was corrected %s', async (_, cells, ok) => {
    const { invoices } = await ingest(written(await corrections(await ingest(FILE)), cells));

    expect(invoices).toMatchObject([ok ? { ok, invoice: { ref: 'F2', lines: [{ unitPrice: '2.5' }] } } : { ok }]);
  });

  it('are refused as a whole where a column was taken out or put in', async () => {
    const table = await corrections(await ingest(FILE));
    const without = table.map((cells) => cells.filter((_, at) => at !== 10));
    const more = table.map((cells, at) => [at === 0 ? 'Nota' : 'z', ...cells]);

    for (const changed of [without, more]) {
      const path = join(directory, 'corrections.csv');
      writeFileSync(path, csvOf(changed));
      const given = { path, file: path, inputDir: directory, store: memoryRowStore(), options: {} };
      expect((await readWithProfile(given)).findings[0]?.code).toBe('layout-unconfirmed');
    }
  });

  it('are refused again where the row lost a cell of its corrections', async () => {
    const table = await corrections(await ingest(FILE.replace('Ana;EUR;IVA_23;Pão;3;2', ';EUR;IVA_23;Pão;3;kg;2')));
    const second = await ingest(csvOf(table.map((cells, at) => (at === 0 ? cells : cells.slice(0, -3)))));

    expect(told(second)).toEqual(['F2 cell-count']);
    expect(told(await ingest(await handedBack(directory, invalidOf(second))))).toEqual(['F2 cell-count']);
  });

  it('are none where only the header ends with more delimiters, and the last cells of the rows are filled', async () => {
    expect(told(await ingest(`${HEAD};;\n${WHOLE}\n${WHOLE.replace('F1', 'F2')};\n`))).toEqual(['F1 sent', 'F2 sent']);
  });
});

describe('corrections of a file that ends in a number or a code, without a line end', () => {
  const FILE = NO_LINE_END;

  it('are refused again where only another cell was written', async () => {
    const table = await corrections(await ingest(FILE));

    expect(told(await ingest(written(table, { description: 'Vela grande' })))).toEqual(['F2 line-end-missing']);
  });

  it('are sent where the cell was written anew and lote_original was emptied', async () => {
    const cells = { tax_code: 'IVA_23', lote_original: '' };

    expect(told(await ingest(written(await corrections(await ingest(FILE)), cells)))).toEqual(['F2 sent']);
  });
});

describe('corrections whose lote_original is not what Lote wrote', () => {
  const FILE = `${HEADER}\n00012,501964843,Ana,EUR,Vela,2,1,\n`;
  const damaged = ['12 corrections-damaged'];

  it('are refused again as long as they are not corrected', async () => {
    const table = await corrections(await ingest(FILE));
    for (const text of ['yes', '{"invoice_ref":', '=1+1', '[{},{"other":true}]']) {
      const first = await ingest(written(table, { invoice_ref: '12', tax_code: 'IVA_23', lote_original: text }));
      expect(await threeTimes(first), text).toEqual([damaged, damaged, damaged]);
    }
  });

  it('have it as it came, and no spreadsheet runs it', async () => {
    const table = await corrections(await ingest(FILE));
    const first = await ingest(written(table, { tax_code: 'IVA_23', lote_original: '=1+1' }));
    const second = await corrections(first);
    const third = await corrections(await ingest(csvOf(second)));

    const at = table[0]?.indexOf('lote_original') ?? -1;
    expect([second, third].map(([, row]) => row?.[at])).toEqual(["'=1+1", "'=1+1"]);
  });

  it('are sent where it was emptied', async () => {
    const table = await corrections(await ingest(FILE));
    const first = await ingest(written(table, { tax_code: 'IVA_23', lote_original: 'yes' }));

    expect(told(await ingest(written(await corrections(first), { lote_original: '' })))).toEqual(['00012 sent']);
  });
});

describe('corrections of a workbook with hidden or merged rows', () => {
  const CELLS = ['', '501964843', 'Ana', 'EUR', 'Vela', '2', '1', 'IVA_23'];
  const TABLE = [HEADER.split(','), ...['F1', 'F2', 'F3'].map((ref) => CELLS.with(0, ref))];

  /** Its second row of invoices is hidden. */
  function hiddenRow(form: 'XLSX' | 'ODS'): Buffer {
    if (form === 'ODS') {
      const rows = TABLE.map((cells, at) => {
        const texts = cells.map(
          (text) => `<table:table-cell office:value-type="string"><text:p>${text}</text:p></table:table-cell>`,
        );
        return `<table:table-row${at === 2 ? ' table:visibility="filter"' : ''}>${texts.join('')}</table:table-row>`;
      });
      return odsOfContent(`<table:table table:name="Folha">${rows.join('')}</table:table>`);
    }
    return bookOf(TABLE, 3);
  }

  function sheetRows(table: readonly (readonly string[])[], hidden?: number): string {
    return table
      .map((cells, at) => {
        const texts = cells.map((text) => `<c t="inlineStr"><is><t>${text.replaceAll('"', '&quot;')}</t></is></c>`);
        return `<row r="${at + 1}"${at + 1 === hidden ? ' hidden="1"' : ''}>${texts.join('')}</row>`;
      })
      .join('');
  }

  function bookOf(table: readonly (readonly string[])[], hidden?: number): Buffer {
    return zipOf(Object.entries(xlsxParts(sheetRows(table, hidden))));
  }

  /** The description of the last two rows is one cell. */
  function mergedRows(): Buffer {
    const parts = xlsxParts(sheetRows(TABLE));
    const name = 'xl/worksheets/sheet1.xml';
    const sheet = String(parts[name]).replace(
      '</sheetData>',
      '</sheetData><mergeCells><mergeCell ref="E3:E4"/></mergeCells>',
    );
    return zipOf(Object.entries({ ...parts, [name]: sheet }));
  }

  const HIDDEN = ['F2 row-hidden'];
  const FORMS = [
    ['an XLSX file with a hidden row', () => hiddenRow('XLSX'), HIDDEN],
    ['an ODS file with a filtered row', () => hiddenRow('ODS'), HIDDEN],
  ] as const;

  it('are not handed back with merged cells, because a workbook without them would say something else', async () => {
    const invalid = invalidOf(await ingest(mergedRows()));

    await expect(handedBack(directory, invalid)).rejects.toThrow('its rows have merged cells');
  });

  const AS_TEXT = { ok: false, findings: [{ code: 'corrections-saved-as-text', row: 2 }] };

  it.each(FORMS)('are refused again as long as they are not corrected: %s', async (_, book, refused) => {
    const workbook = await handedBack(directory, invalidOf(await ingest(book())));
    const again = await ingest(workbook);
    const third = await ingest(await handedBack(directory, again));

    expect([again, third].map(told)).toEqual([refused, refused]);
  });

  it.each(FORMS)('are refused as a whole when corrections.xlsx was saved as CSV: %s', async (_, book) => {
    const workbook = await handedBack(directory, invalidOf(await ingest(book())));
    const csv = savedAsCsv(workbook);

    expect((await ingest(csv)).read).toMatchObject({ ok: false, findings: [{ code: 'corrections-not-compared' }] });
    expect((await ingest(bookOf(parse(csv, { delimiter: ';' })))).read).toMatchObject(AS_TEXT);
  });

  it.each(FORMS)('are sent from a workbook that shows what was hidden: %s', async (_, book, refused) => {
    const workbook = await handedBack(directory, invalidOf(await ingest(book())));
    const sent = refused.map((said) => `${said.slice(0, 2)} sent`);

    expect(told(await ingest(shownInOffice(workbook)))).toEqual(sent);
    expect(told(await ingest(shownInOffice(workbook, 'ods'))), 'saved as ODS').toEqual(sent);
  });

  it.each(['0', '0.00', '000000000', '@'])(
    'are refused when corrections.xlsx was saved as CSV, and that as a workbook of the format %s',
    async (format) => {
      const workbook = await handedBack(directory, invalidOf(await ingest(hiddenRow('XLSX'))));

      expect((await ingest(csvAsWorkbook(savedAsCsv(workbook), format))).read).toMatchObject(AS_TEXT);
    },
  );

  it('are refused again as long as a cell stands to the right of the header', async () => {
    const first = invalidOf(await ingest(bookOf(TABLE.map((cells, at) => (at === 2 ? [...cells, 'urgent'] : cells)))));
    const workbook = await handedBack(directory, first);

    expect(told(await ingest(workbook))).toEqual(['F2 cell-count']);
  });

  it('are refused again where a row of corrections.csv was hidden in a workbook', async () => {
    const wrong = TABLE.map((cells, at) => (at === 2 ? cells.with(2, '') : cells));
    const shown = await corrections(await ingest(csvOf(wrong)));
    const named = shown.map((cells, at) => (at === 0 ? cells : cells.with(2, 'Ana')));
    const second = await ingest(bookOf(named, 2));
    const workbook = await handedBack(directory, second);

    expect(told(second)).toEqual(HIDDEN);
    expect(told(await ingest(workbook))).toEqual(HIDDEN);
    expect((await ingest(savedAsCsv(workbook))).read).toMatchObject(AS_TEXT);
  });
});
