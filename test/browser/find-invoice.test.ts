import type { Browser, BrowserContext, Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startConsole, type RunningConsole } from '../../src/console/start-console.ts';
import type { Ledger } from '../../src/domain/ports/ledger/ledger.ts';
import {
  accepted,
  createScenario,
  delivery,
  finishStaging,
  invoiceOf,
  validInvoice,
} from '../contract/ledger/scenario.ts';
import { BROWSER_PATH, keepScreen, launchBrowser } from '../support/browser/browser.ts';
import { overflowOf, seriousViolations } from '../support/browser/page-checks.ts';
import { temporaryLedger } from '../support/servers/temporary-database.ts';

const INVOICES = 50_000;
const PORTION = 5_000;
/** The one that somebody asks for: in the middle, found by no index. */
const WANTED = 23_456;
/** A step takes a person one or two seconds: typing a name, pressing a key, clicking a link. */
const MOST_STEPS = 4;

describe.skipIf(BROWSER_PATH === null)('somebody asks for one of 50,000 invoices', { timeout: 300_000 }, () => {
  let ledger: Ledger;
  let served: RunningConsole;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let steps: number;

  beforeAll(async () => {
    ledger = await temporaryLedger();
    await fill(ledger);
    served = await startConsole({
      ...{ ledger, host: '127.0.0.1', port: 0, reportsDir: '/nowhere', version: '0.1.0', timeZone: 'UTC' },
      links: { temporalUi: null },
    });
    browser = await launchBrowser();
  }, 300_000);

  beforeEach(async () => {
    // The checker is put into the page; its own policy would keep it out.
    context = await browser.newContext({ locale: 'pt-PT', bypassCSP: true, acceptDownloads: true });
    page = await context.newPage();
    page.setDefaultTimeout(120_000);
    steps = 0;
    await page.goto(served.url);
  });

  afterEach(() => context.close());

  afterAll(async () => {
    await browser?.close();
    await served?.close();
    await ledger?.close();
  });

  async function step(action: Promise<unknown>): Promise<void> {
    steps += 1;
    await action;
  }

  const topSearch = (): Locator => page.locator('header').getByRole('searchbox');

  /** The invoice is open, with its whole life, after few steps. */
  async function seesTheLife(): Promise<void> {
    await page.getByRole('heading', { level: 1, name: `Fatura FT 2026/${WANTED}` }).waitFor();
    const life = page.getByRole('region', { name: 'O que aconteceu' }).getByRole('row');
    expect((await life.allInnerTexts()).map((row) => row.split('\t').slice(1, 3).join(': '))).toEqual([
      'Origem: O quê',
      `ficheiro: lida de invoices.csv, linha ${WANTED + 1}`,
      'Lote: pedido e chave fixados, geração 1',
      'Lote: primeiro envio',
      'resposta: aceite pelo serviço como inv_wanted',
      'webhook: webhook invoice.issued',
      'Lote: final: issued',
    ]);
    expect(steps).toBeLessThanOrEqual(MOST_STEPS);
  }

  it('finds it by a part of the name, without the accents, in three steps', async () => {
    await step(topSearch().fill(`goncalves ${WANTED}`));
    await step(topSearch().press('Enter'));
    await step(page.getByRole('link', { name: `FT 2026/${WANTED}` }).click());

    await seesTheLife();
    await keepScreen(page, 'find-life');
    expect(await seriousViolations(page)).toEqual([]);
  });

  it('finds it by its reference in three steps', async () => {
    await step(topSearch().fill(`FT 2026/${WANTED}`));
    await step(topSearch().press('Enter'));
    await step(page.getByRole('link', { name: `FT 2026/${WANTED}` }).click());

    await seesTheLife();
  });

  it('finds it by the amount alone in four steps, and saves what is shown', async () => {
    await page.goto(`${served.url}/search`);
    await step(page.getByText('Por valor ou data').click());
    await step(page.getByLabel('Valor líquido, sem imposto').fill('469.120,00'));
    await step(page.getByLabel('Valor líquido, sem imposto').press('Enter'));
    await page.getByText('1 fatura encontrada.').waitFor();
    await keepScreen(page, 'find-amount');
    expect(await seriousViolations(page)).toEqual([]);
    for (const [name, ending] of [
      ['CSV para Excel', 'csv'],
      ['Excel (XLSX)', 'xlsx'],
    ] as const) {
      const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name }).click()]);
      expect(file.suggestedFilename()).toBe(`invoices.${ending}`);
    }
    await page.setViewportSize({ width: 380, height: 800 });
    expect(await overflowOf(page)).toBe(0);
    await step(page.getByRole('link', { name: `FT 2026/${WANTED}` }).click());

    await seesTheLife();
  });
});

/** One file of 50,000 invoices, of which one has gone its whole way. */
async function fill(ledger: Ledger): Promise<void> {
  const scenario = createScenario(ledger);
  const batch = await scenario.begin();
  for (let first = 1; first <= INVOICES; first += PORTION) {
    const invoices = Array.from({ length: PORTION }, (_, at) => {
      const invoice = invoiceOf({ ref: `FT 2026/${first + at}`, unitPrice: String((first + at) * 10) });
      const customer = { name: `José Gonçalves ${first + at}, Lda.`, taxId: String(200_000_000 + first + at) };
      return validInvoice(scenario.application, { ...invoice, customer }, first + at);
    });
    await ledger.stageInvoices(batch, invoices, Date.UTC(2026, 10, 21));
  }
  await finishStaging(ledger, batch, { invoices: INVOICES, pageSize: 2_000 });
  const [wanted] = await ledger.sendable(batch.batchId, WANTED, WANTED);
  const { invoiceId, generation } = wanted ?? { invoiceId: 0, generation: 1 };
  const sentAt = Date.UTC(2026, 10, 21, 2);
  await ledger.freeze(batch.batchId, [{ invoiceId, generation, body: '{}' }], sentAt - 1);
  await ledger.recordSends([
    { invoiceId, generation, attempts: 1, sentAt, answeredAt: sentAt + 1, outcome: accepted('inv_wanted') },
  ]);
  await ledger.recordDeliveries([delivery('inv_wanted', 'issued', { receivedAt: sentAt + 2 })]);
}
