import { describe, expect, it } from 'vitest';
import type { Finding } from '../../../../../src/domain/invoice.ts';
import { buildReport, type ReportFacts } from '../../../../../src/report/build-report.ts';
import { htmlReport } from '../../../../../src/report/html/html-report.ts';
import { rowList } from '../../../../../src/report/html/sections.ts';
import { reportFormat } from '../../../../../src/report/texts/report-format.ts';
import { chooseLanguage } from '../../../../../src/texts/languages.ts';
import { batchInvoice, batchOf, countsOf, NOON, portionsOf, textOf, finding } from '../../batch-invoices.ts';
import type { BatchInvoice, BatchRecord } from '../../../../../src/domain/records/batch-record.ts';

const NO = { code: 'no', message: 'No.' };
const HOSTILE = '"><img src=x onerror=alert(1)>\'&';

interface Given extends Partial<ReportFacts> {
  readonly batch?: Partial<BatchRecord>;
  readonly findings?: readonly Finding[];
  /** As `LOTE_LANGUAGE`. */
  readonly language?: string;
}

async function pageOf(
  invoices: readonly BatchInvoice[],
  { batch, findings = [], language = 'en', ...facts }: Given = {},
): Promise<string> {
  const model = await buildReport({
    ...{ batch: batchOf(invoices, batch), findings, revision: 1, now: NOON, ...facts },
    counts: () => Promise.resolve(countsOf(invoices)),
    invoices: portionsOf(invoices),
  });
  const format = reportFormat(chooseLanguage(language));
  return textOf(htmlReport(model, () => portionsOf(invoices), { corrections: null, format }));
}

/** The references of invoices in the lists of a page. */
const listedIn = (page: string) => [...page.matchAll(/<tr><td>([A-Z]+-\d+)<\/td>/gu)].map(([, ref]) => ref ?? '');

describe('htmlReport, first screen', () => {
  it('does not say that everything went out while a row is left over', async () => {
    const left: Finding = finding(9, 'invoice_ref', 'ref-missing', 'No reference.');

    const page = await pageOf([batchInvoice()], { batch: { rowsWithoutInvoice: 1 }, findings: [left] });

    expect(page).toContain('<strong>1 row belongs to no invoice.</strong>');
  });

  it('draws a bar whose parts fill it and are all visible', async () => {
    const many = Array.from({ length: 2000 }, (_, index) => batchInvoice({ ordinal: index + 1 }));

    const page = await pageOf([...many, batchInvoice({ ordinal: 2001, state: 'failed', reason: NO })]);

    const bars = [...page.matchAll(/<rect\s+class="([a-z-]+)"\s+x="([\d.]+)"\s+width="([\d.]+)"/gu)];
    expect(bars.map(([, tone]) => tone)).toEqual(['good', 'bad']);
    expect(Number(bars[1]?.[3])).toBeGreaterThanOrEqual(1);
    expect(Number(bars[1]?.[2]) + Number(bars[1]?.[3])).toBeCloseTo(999, 0);
    expect(page).toContain('aria-label="issued 2000, failed 1"');
  });
});

it('a page names at most 2,000 that went out and 2,000 that did not, and says above each list where all of them are', async () => {
  const out = Array.from({ length: 2_001 }, (_, index) => batchInvoice({ ordinal: index + 1, ref: `OUT-${index}` }));
  const open = Array.from({ length: 2_002 }, (_, index) =>
    batchInvoice({ ordinal: 2_002 + index, ref: `NOT-${index}`, state: 'rejected', reason: NO }),
  );

  const page = await pageOf([...out, ...open]);

  const listed = listedIn(page);
  expect(listed.filter((ref) => ref.startsWith('OUT-'))).toHaveLength(2_000);
  expect(listed.filter((ref) => ref.startsWith('NOT-'))).toHaveLength(2_000);
  expect(page).not.toMatch(/<\/td>\s+<td/u);
  const text = page.replaceAll('\u202F', ' ').replaceAll(/\s+/gu, ' ');
  expect(text).toContain('Only the first 2 000 of 2 002 stand on this page');
  expect(text).toMatch(/Only the first 2 000 of 2 001 .{0,80}report\.csv and report\.json/u);
  // The numbers above the list are those of all.
  expect(text).toContain('2 002 of 4 003 invoices are not confirmed as issued.');
});

describe('htmlReport of invoices that went out and are in doubt', () => {
  const inDoubt = { flags: ['failed-after-issued'], contradictions: ['failed-after-issued'] } as const;

  it('lists each of them first, however many went out, and names them on the first screen', async () => {
    const invoices = Array.from({ length: 2_050 }, (_, at) =>
      batchInvoice({ ordinal: at + 1, ...(at >= 2_025 ? inDoubt : {}) }),
    );

    const history = { changes: { sinceRevision: 1, byState: [], contradictedBefore: 2 }, audit: [] };
    const page = await pageOf(invoices, { history });

    const listed = listedIn(page);
    expect(listed.slice(0, 26)).toEqual([...Array.from({ length: 25 }, (_, at) => `F-${at + 2_026}`), 'F-1']);
    expect(new Set(listed).size).toBe(listed.length);
    expect(page).toContain('<strong>25 invoices went out and are in doubt');
    expect(page).toMatch(/In doubt: F-2026; F-2027; [^<]*; F-2045 and 5 more<\/strong>/u);
    expect(page, 'among what has changed, too').toMatch(/25; before, 2\.<\/p>\s*<p><strong>In doubt: F-2026;/u);
    expect(page).not.toContain('Everything went out');
  });

  const differ: Finding = {
    ...{ row: null, column: null, code: 'control-totals-differ', severity: 'error' },
    message: 'The file has 1 invoice, and 2 were declared.',
  };

  it.each([
    ['en', 'control totals that differ', { findings: [differ] }, 'but the file does not have the control totals'],
    ['en', 'rows in no invoice', { batch: { rowsWithoutInvoice: 2 } }, '2 rows belong to no invoice'],
    ['es', 'control totals that differ', { findings: [differ] }, 'pero no tiene los totales de control'],
    ['pt', 'control totals that differ', { findings: [differ] }, 'mas ele não tem os totais de controlo'],
  ])('in %s says beside the doubt what is wrong with the file: %s', async (language, _, given, words) => {
    const invoices = [batchInvoice(inDoubt)];

    const [screen = ''] = (await pageOf(invoices, { language, ...given })).split('</section>');
    const [whole = ''] = (await pageOf(invoices, { language })).split('</section>');

    const [, verdict, beside] = /<strong>([^<]*)<\/strong><\/p>\s*<p>([^<]*)<\/p>/u.exec(screen) ?? [];
    expect(verdict).toMatch(/^1 /u);
    expect(beside).toContain(words);
    expect(whole).not.toContain(words);
  });

  it.each([
    ['pt-PT', 'está em dúvida', 'O serviço disse que foi emitida e, depois, que falhou.'],
    ['es-ES', 'está en duda', 'El servicio dijo que se emitió y, después, que falló.'],
  ])('says so in the language %s', async (language, sentence, flag) => {
    const page = await pageOf([batchInvoice(inDoubt)], { language });

    expect(page).toContain(sentence);
    expect(page).toContain(`<strong>${flag}</strong>`);
  });
});

describe('htmlReport, money', () => {
  it('says what of each currency went out, with every digit of the file and two decimals at least', async () => {
    const invoices = [
      batchInvoice({ net: '1000.5' }),
      batchInvoice({ ordinal: 2, net: '0.125', state: 'rejected', reason: NO }),
      batchInvoice({ ordinal: 3, net: '7', currency: 'BRL' }),
    ];

    const page = (await pageOf(invoices)).replaceAll('\u202F', ' ');

    expect(page).toContain('Went out, net without tax: 7.00 of 7.00 BRL; 1 000.50 of 1 000.625 EUR.');
    expect(page).toMatch(
      /<tfoot>\s*<tr>\s*<th scope="row">all invoices<\/th>\s*<td class="number">7\.00<\/td><td class="number">1 000\.625</u,
    );
  });
});

describe('htmlReport, how the file was read', () => {
  const proofOf = async (proof: Record<string, unknown>) => {
    const page = await pageOf([batchInvoice()], { batch: { proof } });
    return [...page.matchAll(/<li><span class="soft">([^<]+):<\/span> ([^<]*)<\/li>/gu)].map(
      ([, name, value]) => `${name}: ${value}`,
    );
  };

  it('names each decision, and the cell that proves it', async () => {
    const proof = {
      encoding: { name: 'utf-8', how: 'proved', bom: false, samples: [] },
      delimiter: { value: ';', how: 'proved' },
      decimal: {
        quantity: { mark: '.', how: 'either' },
        unit_price: { mark: ',', how: 'proved', witness: { row: 8, value: '0,5' } },
      },
      header: [{ column: 'invoice_ref', header: 'Fatura' }],
      ignored: ['Notas', 'Vendedor'],
      dialect: { format: 'csv' },
    };

    expect(await proofOf(proof)).toEqual([
      'encoding: utf-8, proved',
      'delimiter: semicolon, proved',
      'decimal in unit_price: comma, proved (row 8: 0,5)',
      'ignored: Notas, Vendedor',
    ]);
  });

  it.each([[{}], [{ a: null, b: [], c: false, d: { e: null }, g: [[1]] }]])(
    'says nothing where there is nothing to say: %j',
    async (proof) => {
      expect(await proofOf(proof)).toEqual([]);
    },
  );
});

describe('htmlReport', () => {
  it('shows warnings and contradictions of an issued invoice', async () => {
    const found = finding(2, 'merchant_nif', 'nif-checksum', 'The check digit is odd.', 'warning');

    const page = await pageOf([batchInvoice({ findings: [found], flags: ['issued-after-failed'] })]);

    expect(page).toContain('<div>The check digit is odd.</div><div>issued-after-failed</div>');
  });

  it('runs nothing that a file or the service wrote, wherever it stands', async () => {
    const findings: Finding[] = [finding(1, HOSTILE, HOSTILE, HOSTILE)];
    const texts = { ref: HOSTILE, merchantNif: HOSTILE, currency: HOSTILE, serviceId: HOSTILE, flags: [HOSTILE] };
    const reason = { code: HOSTILE, message: HOSTILE };
    const invoice = batchInvoice({ ...texts, state: 'rejected', reason, findings });
    const batch = { file: HOSTILE, application: HOSTILE, sha256: HOSTILE, proof: { [HOSTILE]: HOSTILE, d: [HOSTILE] } };

    const page = await pageOf([invoice], { batch, findings });

    expect(page).not.toMatch(/<img|<script/iu);
    expect(page).toContain('&quot;&gt;&lt;img src=x onerror=alert(1)&gt;&#39;&amp;');
  });

  it('loads nothing and allows nothing to run', async () => {
    const page = await pageOf([batchInvoice()]);

    expect(page).toContain('default-src &#39;none&#39;');
    expect(page).not.toMatch(/src=|@import|url\(|https?:/iu);
  });

  it('tells in the language of its readers why a file was refused, and what every report says', async () => {
    const findings: Finding[] = [finding(3, null, 'quote-unclosed', 'A quote is never closed.')];

    const refused = await pageOf([], { batch: { state: 'refused', rows: 0 }, findings, language: 'es' });
    const noted = await pageOf([batchInvoice()], { notes: [{ kind: 'no-webhook', cause: 'x' }], language: 'es' });

    expect(refused).toContain('<li>Fila 3: Una comilla nunca se cierra. <span class="soft" lang="en">');
    expect(noted).toContain('preguntando (GET). En inglés: x.</p>');
  });
});

describe('rowList', () => {
  it.each([
    [[], 'no rows'],
    [[7], 'row 7'],
    [[2, 3], 'rows 2, 3'],
    [[1, 2, 3, 4, 5, 6, 7, 8, 9, 10], 'rows 1, 2, 3, 4, 5, 6, 7, 8 and 2 more'],
  ])('names %j', (rows, expected) => {
    expect(rowList(reportFormat(chooseLanguage('en')), rows)).toBe(expected);
  });
});
