import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seriousViolations, overflowOf } from '../support/browser/page-checks.ts';
import { BROWSER_PATH, keepScreen, launchBrowser } from '../support/browser/browser.ts';
import { writeInvoiceFile } from '../support/files/batch-file.ts';
import { runLote } from '../support/lote/lote-command.ts';
import { startLoteUp, type RunningLote } from '../support/lote/running-lote.ts';

/** A page may wait for a machine that is busy with everything else. */
const PATIENCE_MS = 300_000;

describe.skipIf(BROWSER_PATH === null)('a back office in the console', { timeout: 600_000 }, () => {
  let lote: RunningLote;
  let browser: Browser;
  let page: Page;
  let desk: string;

  beforeAll(async () => {
    lote = await startLoteUp({ TZ: 'Europe/Lisbon', LOTE_DROP_STABLE_FOR: '1s' });
    desk = join(lote.place.directory, 'desk');
    await mkdir(desk, { recursive: true });
    browser = await launchBrowser();
    page = await browser.newPage({ viewport: { width: 1280, height: 900 }, locale: 'en-GB' });
    page.setDefaultTimeout(PATIENCE_MS);
  }, 600_000);

  afterAll(async () => {
    await browser?.close();
    await lote?.remove();
  }, 300_000);

  /** The name of its file. */
  async function nightSummary(): Promise<string> {
    const nights = await readdir(join(lote.place.reportsDir, 'nights'));
    return nights.find((name) => name.endsWith('.html')) ?? expect.fail('no summary');
  }

  async function check(file: string): Promise<void> {
    await page.goto(lote.console);
    await page.locator('input[type=file]').setInputFiles(file);
    await page.getByRole('button', { name: 'Check', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: /^Check of / }).waitFor();
  }

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
    await keepScreen(page, 'console-empty');
  });

  it('uploads the corrected file and follows it to its end', async () => {
    const file = join(desk, 'may.csv');
    await writeInvoiceFile(file, { invoices: 40, failing: [9] });

    await check(file);
    await page.getByText('No errors: all 40 invoices can be sent.').waitFor();
    await keepScreen(page, 'console-check-clean');
    await page.getByRole('button', { name: 'Start: issue 40 invoices' }).click();

    // The page follows by itself: nothing is clicked until the end is there.
    await page.getByText('1 of 40 invoices is not confirmed as issued.').waitFor();
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
    await page.getByText('1 of 40 invoices is not confirmed as issued.').waitFor();
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
    await keepScreen(page, 'console-invoice');
  });

  it('sends a failed invoice again with a reason, then by state, and finds who did it and why', async () => {
    const sendAgain = async (reason: string): Promise<void> => {
      await page.getByLabel('Reason').fill(reason);
      await page.getByRole('button', { name: 'Send again' }).click();
      const said = /Sent again: 1 invoice|being taken up|takes them up/u;
      await page.getByRole('status').filter({ hasText: said }).waitFor();
    };
    await sendAgain('the engine is back');
    await keepScreen(page, 'console-sent-again');
    await page.getByRole('link', { name: '← may.csv' }).click();
    // The tax code of it stays what it is: the engine fails it once more, under a second key.
    await page.getByText('1 of 40 invoices is not confirmed as issued.').waitFor();
    await page.getByRole('link', { name: 'F/9' }).click();
    const requests = page.getByRole('region', { name: 'Requests to the service' });
    expect(await requests.getByRole('row').count()).toBe(3);

    await page.getByRole('link', { name: '← may.csv' }).click();
    await sendAgain('once more');
    await page.getByText('1 of 40 invoices is not confirmed as issued.').waitFor();
    const audit = `${page.url().replace(/\?.*$/u, '')}/audit`;
    const reasons = async () => (await page.goto(audit), page.getByText(/the engine is back|once more/u).count());
    await expect.poll(reasons, { timeout: PATIENCE_MS }).toBe(2);
    expect(await page.getByText('console', { exact: true }).count()).toBe(2);
  });

  it('looks at a night: what was taken, and why something was refused', async () => {
    await writeInvoiceFile(join(lote.place.inputDir, 'night.csv'), { invoices: 3, failing: [2], series: 'N' });
    await writeFile(join(lote.place.inputDir, 'not-invoices.csv'), 'a;b\n1;2\n');
    const night = await runLote(['nightly', 'now'], lote.place.env);
    // Somebody has to look at it: that is what the command says, too.
    expect(night.code, night.stderr).toBe(1);

    await page.goto(lote.console);
    await page.getByRole('link', { name: 'Nights' }).click();
    await page.getByText('2 of 2 files need a person.').waitFor();
    await page.getByRole('table').getByRole('link').first().click();

    await page.getByText('1 of 3 invoices is not confirmed as issued.').first().waitFor();
    await page.getByText('Nothing of it was sent. The report says why.').first().waitFor();
    expect(await page.getByText(/^refused\/.*not-invoices\.csv$/u).count()).toBe(1);
    await keepScreen(page, 'console-night');
    await page.getByRole('link', { name: 'night.csv', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'night.csv' }).waitFor();
  });

  // `page-budget.test.ts` judges the pages of the console itself.
  it('opens the summary of the night from its folder: it shuts nobody out', async () => {
    // The checker is put into the page; its own policy would keep it out.
    const context = await browser.newContext({ bypassCSP: true, locale: 'pt-PT' });
    const visited = await context.newPage();
    await visited.goto(pathToFileURL(join(lote.place.reportsDir, 'nights', await nightSummary())).href);

    await shutsNobodyOut(visited, 'night-summary');
    await context.close();
  });

  it('sees the nights, each as a bar and in numbers', async () => {
    await page.goto(lote.console);
    await page.getByRole('link', { name: 'Figures' }).click();

    await page.getByRole('img', { name: /^issued [1-9]\d*, .*failed [1-9]/u }).waitFor();
    expect(await page.getByRole('region', { name: 'Figures' }).getByRole('row').count()).toBe(2);
    await keepScreen(page, 'console-figures');
  });

  it('sees that every part is well, and what is assumed of the service', async () => {
    await page.goto(`${lote.console}/health`);
    expect(await page.getByRole('row', { name: /well/ }).count()).toBeGreaterThanOrEqual(6);
    expect(await page.getByRole('row').filter({ hasText: 'trouble' }).allInnerTexts()).toEqual([]);
    expect(await page.getByText('trouble').count()).toBe(0);
    await keepScreen(page, 'console-health');

    await page.goto(`${lote.console}/profile`);
    await page.getByText('X-Service-Signature').waitFor();
    await keepScreen(page, 'console-profile');
  });

  /** The addresses of all kinds of pages; the report comes last. */
  async function addresses(): Promise<readonly string[]> {
    const { batches } = (await (await fetch(`${lote.console}/api/batches`)).json()) as {
      batches: readonly { batchId: string; file: string }[];
    };
    const batch = `/batches/${batches.find(({ file }) => file.endsWith('may.csv'))?.batchId}`;
    await writeInvoiceFile(join(lote.place.inputDir, 'bad.csv'), { invoices: 5, invalid: [2] });
    return [
      ...['/', '/check?file=bad.csv&decimal=.', '/search?q=F%2F9', '/figures', '/health', '/profile'],
      ...[batch, `${batch}/invoices/9`, `${batch}/audit`],
      ...['/nights', `/nights/${(await nightSummary()).replace('.html', '')}`, `${batch}/files/report.html`],
    ].map((path) => lote.console + path);
  }

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

    await plain.getByText('1 de 3 facturas está sin emisión confirmada.').waitFor();
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
    for (const address of await addresses()) await visited.goto(address);

    expect(foreign).toEqual([]);
    expect(complaints).toEqual([]);
    await context.close();
  });

  it('prints the report with every invoice, folded or not', async () => {
    const context = await browser.newContext();
    const visited = await context.newPage();
    await visited.goto((await addresses()).at(-1) ?? '');
    await visited.emulateMedia({ media: 'print' });

    await keepScreen(visited, 'report-print');

    expect(await visited.getByRole('row', { name: /F\/40/ }).isVisible()).toBe(true);
    await context.close();
  });
});

/** Nothing that shuts people out, no scrolling sideways: on a wide light screen and on a narrow dark one. */
async function shutsNobodyOut(visited: Page, name: string): Promise<void> {
  for (const [scheme, width] of [
    ['light', 1280],
    ['dark', 380],
  ] as const) {
    await visited.emulateMedia({ colorScheme: scheme });
    await visited.setViewportSize({ width, height: 800 });
    await keepScreen(visited, `${name}-${scheme}-${width}`);
    expect(await seriousViolations(visited)).toEqual([]);
    expect(await overflowOf(visited)).toBe(0);
  }
}
