import type { Browser } from 'playwright-core';
import { openPostgresDatabase } from '../src/database/open-postgres-database.ts';
import { BROWSER_PATH, launchBrowser, weighPage } from '../test/support/browser/browser.ts';
import { startFurnishedConsole, type FurnishedConsole } from '../test/support/console/furnished-console.ts';
import { startDeployedPostgres } from './deployed-postgres.ts';
import { median } from './measures/median.ts';
import type { PagesOptions } from './options.ts';
import type { Table } from './print-table.ts';

/** The bars: bytes of all that a page loads, unpacked, and time until it can be used. */
const BAR = { kilobytes: 100, interactiveMs: 500 };
/** The other batches, three a night for ninety nights, are of so many invoices less. */
const SMALLER = 200;

/** What the browser says of one navigation, in milliseconds from its beginning. */
interface Times {
  readonly firstByte: number;
  readonly interactive: number;
}

/** How heavy each page of the console is, and how soon it can be used, over a ledger on PostgreSQL with one large batch. */
export async function runPagesBench({ invoices, rounds }: PagesOptions): Promise<Table> {
  if (BROWSER_PATH === null) throw new Error('Measuring the pages: no Chromium on the PATH.');
  const cluster = await startDeployedPostgres();
  if (cluster === null) throw new Error('Measuring the pages: no PostgreSQL on this machine (initdb and postgres).');
  const each = Math.ceil(invoices / SMALLER);
  try {
    const database = openPostgresDatabase({ connectionString: cluster.url });
    const served = await startFurnishedConsole(database, { large: invoices, each });
    const browser = await launchBrowser();
    try {
      return tableOf(await measureAll(served, browser, rounds), { invoices, rounds, each });
    } finally {
      await browser.close();
      await served.stop();
    }
  } finally {
    await cluster.stop();
  }
}

async function measureAll(served: FurnishedConsole, browser: Browser, rounds: number): Promise<Table['rows']> {
  const rows: string[][] = [];
  for (const address of served.addresses) {
    const answer = await fetch(served.url + address);
    await answer.arrayBuffer();
    if (answer.headers.get('content-type')?.startsWith('text/html') === true)
      rows.push([`\`${address}\``, ...(await measure(browser, served.url + address, rounds))]);
  }
  return rows;
}

async function measure(browser: Browser, url: string, rounds: number): Promise<readonly string[]> {
  const times: Times[] = [];
  let decoded = 0;
  for (let round = 0; round < rounds; round += 1) {
    // A new one each time: nothing of the page is in a cache.
    const context = await browser.newContext();
    const page = await context.newPage();
    ({ decoded } = await weighPage(page, () => page.goto(url)));
    times.push((await page.evaluate(TIMES)) as Times);
    await context.close();
  }
  const middle = (of: keyof Times) => String(Math.round(median(times.map((one) => one[of]))));
  return [(decoded / 1000).toFixed(1), middle('firstByte'), middle('interactive')];
}

/** Runs in the page. Its one script is deferred: when it has run, whatever the page can do works. */
const TIMES = `(({ responseStart, domContentLoadedEventEnd }) => ({ firstByte: responseStart, interactive: domContentLoadedEventEnd }))(
  performance.getEntriesByType('navigation')[0])`;

function tableOf(rows: Table['rows'], { invoices, rounds, each }: PagesOptions & { readonly each: number }): Table {
  return {
    title: `Pages of the console: one batch of ${invoices.toLocaleString('en')} invoices, 269 of ${each.toLocaleString('en')}; medians of ${rounds}`,
    columns: ['page', 'kB', 'first byte ms', 'interactive ms'],
    rows,
    notes: [
      `kB: the page, its style, its script and its icon, unpacked; at most ${BAR.kilobytes}.`,
      `Interactive: the page is parsed and its deferred script has run, from the start of the navigation in a new browser context; at most ${BAR.interactiveMs} ms.`,
    ],
  };
}
