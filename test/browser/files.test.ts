import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { BROWSER_PATH, keepScreen, launchBrowser } from '../support/browser/browser.ts';
import { overflowOf, seriousViolations } from '../support/browser/page-checks.ts';
import { correctedInOffice, officeWorkbook } from '../support/files/office-workbook.ts';
import { startLoteUp, type RunningLote, sharedTemporal } from '../support/lote/running-lote.ts';
import { until } from '../support/until.ts';

/** A page may wait for a machine that is busy with everything else. */
const PATIENCE_MS = 300_000;

const HEADER = [
  ...['invoice_ref', 'merchant_nif', 'merchant_legal_name', 'merchant_email', 'customer_name', 'currency'],
  ...['description', 'quantity', 'unit_price', 'tax_code'],
];
const MERCHANT = ['501964843', 'Padaria Central do Porto, Lda', 'faturas@padaria-central.example'];
const WORKBOOK = officeWorkbook([
  HEADER,
  ['C/1', ...MERCHANT, 'Ana Reis', 'EUR', 'Vela', 2, 1.5, 'IVA_23'],
  ['C/2', ...MERCHANT, 'Rui Sá', 'EUR', 'Pavio', 3, 'doze euros', 'IVA_23'],
]);
/** The price of the only row that comes back. */
const WRONG_CELL = 'I2';

/** Two of its words are no words that Lote knows. */
const EXPORT = [
  'Ref;NIF emitente;merchant_legal_name;merchant_email;Nome do cliente;Moeda;Coisa vendida;Quantidade;Valor de cada;IVA',
  'E/1;501964843;Padaria Central do Porto, Lda;faturas@padaria-central.example;Ana Reis;EUR;Vela;2;1,50;IVA_23',
  'E/2;501964843;Padaria Central do Porto, Lda;faturas@padaria-central.example;Rui Sá;EUR;Pavio;3;0,75;IVA_23',
  '',
].join('\n');

describe.skipIf(BROWSER_PATH === null)('files in the browser', { timeout: 600_000 }, () => {
  let lote: RunningLote;
  let browser: Browser;
  let page: Page;
  let clicks = 0;

  beforeAll(async () => {
    lote = await startLoteUp(sharedTemporal());
    browser = await launchBrowser();
    page = await browser.newPage({ viewport: { width: 1280, height: 900 }, locale: 'en-GB' });
    page.setDefaultTimeout(PATIENCE_MS);
    await mkdir(desk(), { recursive: true });
  }, 600_000);

  afterAll(async () => {
    await browser?.close();
    await lote?.remove();
  }, 300_000);

  beforeEach(() => {
    clicks = 0;
  });

  function desk(): string {
    return join(lote.place.directory, 'desk');
  }

  async function click(role: 'button' | 'link', name: string | RegExp): Promise<void> {
    clicks += 1;
    await page.getByRole(role, { name }).click();
  }

  async function choose(label: string, meaning: string): Promise<void> {
    clicks += 1;
    await page.getByLabel(`Meaning of the column ${label}`).selectOption({ label: meaning });
  }

  async function upload(name: string, bytes: Uint8Array | string): Promise<void> {
    const file = join(desk(), name);
    await writeFile(file, bytes);
    clicks += 1;
    await page.locator('input[type=file]').setInputFiles(file);
    await click('button', /^Check$/u);
    await page.getByRole('heading', { level: 1, name: /^Check of / }).waitFor();
  }

  /** What the report of the batch on the page says: it is there a moment after the batch has ended. */
  async function counts(): Promise<Readonly<Record<string, number>>> {
    const batch = decodeURIComponent(new URL(page.url()).pathname.split('/').at(-1) ?? '');
    const file = join(lote.place.reportsDir, batch, 'report.json');
    await until(() => existsSync(file));
    const report = JSON.parse(await readFile(file, 'utf8')) as { readonly counts: Readonly<Record<string, number>> };
    return report.counts;
  }

  it('issues of a workbook with a wrong row what is right, and gives the rest back as a workbook', async () => {
    await page.goto(lote.console);

    await upload('faturas.xlsx', WORKBOOK);
    await click('button', /^Start: issue 1 /u);

    await page.getByRole('link', { name: 'Corrections file' }).waitFor();
    expect(await counts()).toMatchObject({ rows: 2, invoices: 2, issued: 1, invalid: 1 });
    await keepScreen(page, 'console-corrections');
    expect(await seriousViolations(page)).toEqual([]);
    await page.setViewportSize({ width: 380, height: 800 });
    expect(await overflowOf(page)).toBe(0);
    await page.setViewportSize({ width: 1280, height: 900 });
  });

  it('goes from its page to issued invoices in at most four clicks, the correction aside', async () => {
    const download = page.waitForEvent('download');
    await click('link', 'Corrections file');
    const found = await download;
    const corrections = await readFile(await found.path());
    await upload('corrected.xlsx', correctedInOffice(corrections, WRONG_CELL, 12.5));
    await click('button', /^Start: issue 1 /u);

    await page.getByText('Everything went out: 1 invoice.').waitFor();
    expect(found.suggestedFilename()).toBe('corrections.xlsx');
    expect(clicks).toBeLessThanOrEqual(4);
    expect(await counts()).toMatchObject({ rows: 1, invoices: 1, issued: 1 });
  });

  it('issues a file with unknown headers in at most eight clicks', async () => {
    await page.goto(lote.console);

    await upload('exportacao-2026-11.csv', EXPORT);
    await page.getByText('This file cannot be read as invoices').waitFor();
    await click('link', 'Map the columns');
    await choose('Coisa vendida', 'description of the line');
    await choose('Valor de cada', 'unit price without tax');
    await click('button', 'Show what this gives');
    await page.getByText('No errors: all 2 invoices can be sent.').waitFor();
    await keepScreen(page, 'console-mapping');
    await click('button', 'Save and go on');
    await page.getByRole('heading', { level: 1, name: /^Check of / }).waitFor();
    await click('button', 'Start: issue 2 invoices');

    await page.getByText('Everything went out: 2 invoices.').waitFor();
    expect(clicks).toBeLessThanOrEqual(8);
    const saved = await readFile(join(lote.place.inputDir, 'profiles', 'exportacao.json'), 'utf8');
    expect(JSON.parse(saved)).toMatchObject({ columns: { description: 'Coisa vendida', unit_price: 'Valor de cada' } });
  });
});
