import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seriousViolations, overflowOf } from '../support/page-checks.ts';
import { BROWSER_PATH, keepScreen, launchBrowser } from '../support/browser.ts';
import { writeInvoiceFile } from '../support/invoice-file.ts';
import { startLoteUp, type RunningLote } from '../support/running-lote.ts';

/** A page may wait for a machine that is busy with everything else. */
const PATIENCE_MS = 300_000;

describe.skipIf(BROWSER_PATH === null)('a back office in the console', { timeout: 600_000 }, () => {
  let lote: RunningLote;
  let browser: Browser;
  let page: Page;
  let desk: string;

  beforeAll(async () => {
    lote = await startLoteUp({ TZ: 'Europe/Lisbon' });
    desk = join(lote.place.directory, 'desk');
    await mkdir(desk, { recursive: true });
    browser = await launchBrowser();
    page = await browser.newPage({ viewport: { width: 1280, height: 900 }, locale: 'en-GB' });
    page.setDefaultTimeout(PATIENCE_MS);
  }, 600_000);

  afterAll(async () => {
    await browser?.close();
    await lote?.stop();
  }, 300_000);

  async function check(file: string): Promise<void> {
    await page.goto(lote.console);
    await page.locator('input[type=file]').setInputFiles(file);
    await page.getByRole('button', { name: 'Check', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: /^Check of / }).waitFor();
  }

  it('finds an empty console, and is told what to do', async () => {
    await page.goto(lote.console);

    await page.getByText('No batch yet.').waitFor();
    await keepScreen(page, 'console-empty');
  });

  it('is told why a file that is no list of invoices cannot be sent', async () => {
    const file = join(desk, 'phone-bill.csv');
    await writeFile(file, 'a;b\n1;2\n');

    await check(file);

    await page.getByText('This file cannot be read as invoices').waitFor();
    expect(await page.getByRole('button', { name: /^Start/ }).count()).toBe(0);
    await keepScreen(page, 'console-check-refused');
  });

  it('sees every finding of a bad file, and nothing is sent', async () => {
    const file = join(desk, 'may.csv');
    await writeInvoiceFile(file, { invoices: 40, failing: [9], invalid: [5, 12] });

    await check(file);

    await page.getByText('2 of 40 invoices have errors and cannot be sent.').waitFor();
    expect(await page.getByText('"muitos"').count()).toBe(2);
    await page.getByRole('button', { name: 'Start: issue 38 invoices' }).waitFor();
    await keepScreen(page, 'console-check-findings');
    await page.goto(lote.console);
    await page.getByText('No batch yet.').waitFor();
  });

  it('uploads the corrected file and follows it to its end', async () => {
    const file = join(desk, 'may.csv');
    await writeInvoiceFile(file, { invoices: 40, failing: [9] });

    await check(file);
    await page.getByText('No errors: all 40 invoices can be sent.').waitFor();
    await keepScreen(page, 'console-check-clean');
    await page.getByRole('button', { name: 'Start: issue 40 invoices' }).click();

    // The page follows by itself: nothing is clicked until the end is there.
    await page.getByText('Not everything went out: 1 of 40 invoices needs attention.').waitFor();
    await page.getByRole('link', { name: 'Open the report' }).waitFor();
    await keepScreen(page, 'console-batch');
  });

  it('downloads the report and the corrections', async () => {
    const [csv] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Report for Excel (CSV)' }).click(),
    ]);
    const [corrections] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Corrections file' }).click(),
    ]);

    const rows = (await readFile(await csv.path(), 'utf8')).trim().split('\n');
    expect(rows.filter((row) => row.includes('issued')).length).toBe(39);
    expect(await readFile(await corrections.path(), 'utf8')).toContain('F/9');
    await page.getByRole('link', { name: 'Open the report' }).click();
    await page.getByText('Not everything went out: 1 of 40 invoices did not.').waitFor();
    await keepScreen(page, 'report');
  });

  it('finds an invoice by its reference and reads all that happened to it', async () => {
    await page.goto(lote.console);
    await page.getByRole('searchbox').fill('F/9');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByText('1 invoice found.').waitFor();
    await keepScreen(page, 'console-search');

    await page.getByRole('link', { name: 'F/9' }).click();

    await page.getByRole('heading', { level: 1, name: 'Invoice F/9' }).waitFor();
    expect(await page.getByText('webhook invoice.failed').count()).toBe(1);
    expect(await page.getByText('Cliente Secreto 9').count()).toBe(1);
    await page.getByText('Body').click();
    expect(await page.locator('article pre').innerText()).toContain('"name":"•••');
    await keepScreen(page, 'console-invoice');
  });

  it('sees that every part is well, and what is assumed of the service', async () => {
    await page.goto(`${lote.console}/health`);
    expect(await page.getByRole('row', { name: /well/ }).count()).toBeGreaterThanOrEqual(6);
    expect(await page.getByText('trouble').count()).toBe(0);
    await keepScreen(page, 'console-health');

    await page.goto(`${lote.console}/profile`);
    await page.getByText('X-Service-Signature').waitFor();
    await keepScreen(page, 'console-profile');
  });

  describe('every page', () => {
    const pages = ['home', 'check', 'batch', 'invoice', 'search', 'health', 'profile', 'report', 'missing'] as const;
    const address: Record<(typeof pages)[number], string> = {
      home: '/',
      check: '',
      batch: '',
      invoice: '',
      search: '/search?q=F%2F9',
      health: '/health',
      profile: '/profile',
      report: '',
      missing: '/nowhere',
    };

    beforeAll(async () => {
      const { batches } = (await (await fetch(`${lote.console}/api/batches`)).json()) as {
        batches: readonly { batchId: string }[];
      };
      address.batch = `/batches/${batches[0]?.batchId}`;
      address.invoice = `${address.batch}/invoices/9`;
      address.report = `${address.batch}/files/report.html`;
      const bad = join(lote.place.inputDir, 'bad.csv');
      await writeInvoiceFile(bad, { invoices: 5, invalid: [2] });
      address.check = '/check?file=bad.csv&decimal=.';
    });

    it.each(
      pages.flatMap((name) =>
        [
          ['light', 1280],
          ['dark', 380],
        ].map(([scheme, width]) => [name, scheme, width] as const),
      ),
    )('%s, %s, %i px wide: nothing that shuts people out, no scrolling sideways', async (name, scheme, width) => {
      const context = await browser.newContext({
        viewport: { width: Number(width), height: 800 },
        colorScheme: scheme === 'dark' ? 'dark' : 'light',
        locale: 'pt-PT',
        // The checker is put into the page; its own policy would keep it out.
        bypassCSP: true,
      });
      try {
        const visited = await context.newPage();
        visited.setDefaultTimeout(PATIENCE_MS);
        await visited.goto(lote.console + address[name]);

        await keepScreen(visited, `${name}-${scheme}-${width}`);

        expect(await seriousViolations(visited)).toEqual([]);
        expect(await overflowOf(visited)).toBe(0);
      } finally {
        await context.close();
      }
    });

    it('works without JavaScript: the file is checked, started, and its page reads itself again', async () => {
      const context = await browser.newContext({ javaScriptEnabled: false, locale: 'es-ES' });
      const plain = await context.newPage();
      plain.setDefaultTimeout(PATIENCE_MS);
      const file = join(desk, 'plain.csv');
      await writeInvoiceFile(file, { invoices: 3, failing: [1] });
      await plain.goto(lote.console);
      await plain.locator('input[type=file]').setInputFiles(file);
      await plain.getByRole('button', { name: 'Comprobar', exact: true }).click();
      await plain.getByRole('button', { name: /^Iniciar/ }).click();

      await plain.getByText('No se emitió todo: 1 de 3 facturas requiere atención.').waitFor();
      await context.close();
    });

    it('loads nothing from anywhere else, and its policy stops no part of itself', async () => {
      const context = await browser.newContext();
      const visited = await context.newPage();
      const foreign: string[] = [];
      const complaints: string[] = [];
      visited.on('request', (request) => {
        if (!request.url().startsWith(lote.console) && !request.url().startsWith('data:')) foreign.push(request.url());
      });
      visited.on('console', (message) => {
        if (message.type() === 'error') complaints.push(message.text());
      });
      for (const name of pages.filter((page) => page !== 'missing')) await visited.goto(lote.console + address[name]);

      expect(foreign).toEqual([]);
      expect(complaints).toEqual([]);
      await context.close();
    });

    it('prints the report with every invoice, folded or not', async () => {
      const context = await browser.newContext();
      const visited = await context.newPage();
      await visited.goto(lote.console + address.report);
      await visited.emulateMedia({ media: 'print' });

      await keepScreen(visited, 'report-print');

      expect(await visited.getByRole('row', { name: /F\/40/ }).isVisible()).toBe(true);
      await context.close();
    });
  });
});
