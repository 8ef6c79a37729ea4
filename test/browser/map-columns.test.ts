import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BROWSER_PATH, keepScreen, launchBrowser } from '../support/browser/browser.ts';
import { startLoteUp, type RunningLote, sharedTemporal } from '../support/lote/running-lote.ts';

/** A page may wait for a machine that is busy with everything else. */
const PATIENCE_MS = 300_000;
const MOST_CLICKS = 8;

/** Two of its words are no words that Lote knows. */
const EXPORT = [
  'Ref;NIF emitente;merchant_legal_name;merchant_email;Nome do cliente;Moeda;Coisa vendida;Quantidade;Valor de cada;IVA',
  'E/1;501964843;Padaria Central do Porto, Lda;faturas@padaria-central.example;Ana Reis;EUR;Vela;2;1,50;IVA_23',
  'E/2;501964843;Padaria Central do Porto, Lda;faturas@padaria-central.example;Rui Sá;EUR;Pavio;3;0,75;IVA_23',
  '',
].join('\n');

describe.skipIf(BROWSER_PATH === null)('a file with unknown headers', { timeout: 600_000 }, () => {
  let lote: RunningLote;
  let browser: Browser;
  let page: Page;
  let clicks = 0;

  beforeAll(async () => {
    lote = await startLoteUp(sharedTemporal());
    browser = await launchBrowser();
    page = await browser.newPage({ viewport: { width: 1280, height: 900 }, locale: 'en-GB' });
    page.setDefaultTimeout(PATIENCE_MS);
  }, 600_000);

  afterAll(async () => {
    await browser?.close();
    await lote?.remove();
  }, 300_000);

  async function click(role: 'button' | 'link', name: string | RegExp): Promise<void> {
    clicks += 1;
    await page.getByRole(role, { name }).click();
  }

  async function choose(label: string, meaning: string): Promise<void> {
    clicks += 1;
    await page.getByLabel(`Meaning of the column ${label}`).selectOption({ label: meaning });
  }

  it(`becomes issued invoices in at most ${MOST_CLICKS} clicks`, async () => {
    const folder = join(lote.place.directory, 'desk');
    await mkdir(folder, { recursive: true });
    const file = join(folder, 'exportacao-2026-11.csv');
    await writeFile(file, EXPORT);
    await page.goto(lote.console);

    clicks += 1;
    await page.locator('input[type=file]').setInputFiles(file);
    await click('button', /^Check$/u);
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
    expect(clicks).toBeLessThanOrEqual(MOST_CLICKS);
    const saved = await readFile(join(lote.place.inputDir, 'profiles', 'exportacao.json'), 'utf8');
    expect(JSON.parse(saved)).toMatchObject({ columns: { description: 'Coisa vendida', unit_price: 'Valor de cada' } });
  });
});
