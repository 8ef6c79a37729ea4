import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BROWSER_PATH, keepScreen, launchBrowser } from '../support/browser/browser.ts';
import { overflowOf, seriousViolations } from '../support/browser/page-checks.ts';
import { weighPage } from '../support/browser/page-weight.ts';
import { startFurnishedConsole, type FurnishedConsole } from '../support/console/furnished-console.ts';
import { temporaryDatabase } from '../support/servers/temporary-database.ts';

/** Of all that a page loads, unpacked. */
const MOST_BYTES = 100_000;
/** A page may wait for a machine that is busy with everything else. */
const PATIENCE_MS = 300_000;
/** What changes from one reading to the next. */
const MOMENTS = /\d/gu;

describe.skipIf(BROWSER_PATH === null)('every page of a console with years of work in it', { timeout: 600_000 }, () => {
  let served: FurnishedConsole;
  let browser: Browser;
  /** Addresses that answer with a page: found by asking, so that a new page is among them. */
  let pages: readonly string[];

  beforeAll(async () => {
    served = await startFurnishedConsole(await temporaryDatabase(), { large: 3_000, each: 60 });
    browser = await launchBrowser();
    pages = await pagesAmong(served);
  }, 600_000);

  afterAll(async () => {
    await browser?.close();
    await served?.stop();
  });

  /** Goes to each page in a window of its own kind, and collects what is said of it, none of it empty. */
  async function walk(
    options: BrowserContextOptions,
    look: (page: Page, address: string) => Promise<readonly string[]>,
  ) {
    // The checker is put into the page; its own policy would keep it out.
    const context = await browser.newContext({ bypassCSP: true, locale: 'en-GB', ...options });
    const said: string[] = [];
    try {
      for (const address of pages) {
        const page = await context.newPage();
        page.setDefaultTimeout(PATIENCE_MS);
        await page.goto(served.url + address);
        said.push(...(await look(page, address)).map((one) => `${address}: ${one}`));
        await page.close();
      }
    } finally {
      await context.close();
    }
    return said;
  }

  it('is found from the routes of the code', () => {
    expect(served.addresses.filter((address) => address.includes('/:'))).toEqual([]);
    expect(pages.length).toBeGreaterThanOrEqual(14);
  });

  it('weighs less than 100 kB with all that it loads', async () => {
    const heavy = await walk({}, async (page) => {
      const { decoded } = await weighPage(page, () => page.reload());
      return decoded < MOST_BYTES ? [] : [`${decoded} bytes`];
    });

    expect(heavy).toEqual([]);
  });

  it.each([
    ['en-GB', 'light', 1280],
    ['pt-PT', 'dark', 380],
    ['es-ES', 'light', 380],
  ] as const)('shuts nobody out, %s, %s, %i px wide', async (locale, colorScheme, width) => {
    const found = await walk({ locale, colorScheme, viewport: { width, height: 800 } }, async (page, address) => {
      await keepScreen(page, `budget-${address.replaceAll(/[^\w-]+/gu, '_')}-${colorScheme}-${width}`);
      const over = await overflowOf(page);
      return [...(await seriousViolations(page)), ...(over > 0 ? [`${over} px too wide`] : [])];
    });

    expect(found).toEqual([]);
  });

  it('says the same without JavaScript, with the same forms', async () => {
    const shown = (page: Page) => page.locator('body').innerText();
    const withScript = await walk({}, async (page) => [
      (await shown(page)).replaceAll(MOMENTS, ''),
      ...(await formsOf(page)),
    ]);
    const without = await walk({ javaScriptEnabled: false }, async (page) => [
      (await shown(page)).replaceAll(MOMENTS, ''),
      ...(await formsOf(page)),
    ]);

    expect(without).toEqual(withScript);
  });

  it('has only forms and links that work without JavaScript', async () => {
    const known = new Set(served.routes);
    const broken = await walk({ javaScriptEnabled: false }, async (page) => {
      const forms = await formsOf(page);
      const inert = await page
        .locator('button[type=button], button:not(form *), [onclick], a[href^="javascript:"], a[href="#"]')
        .all();
      return [
        ...forms.filter((form) => !isKnown(form, known)),
        ...(await Promise.all(inert.map((one) => one.innerText()))),
      ];
    });

    expect(broken).toEqual([]);
  });
});

/** Those addresses that answer with HTML; each must answer. */
async function pagesAmong({ url, addresses }: FurnishedConsole): Promise<readonly string[]> {
  const found: string[] = [];
  for (const address of addresses) {
    const answer = await fetch(url + address);
    expect([address, answer.status]).toEqual([address, 200]);
    await answer.body?.cancel();
    if (answer.headers.get('content-type')?.startsWith('text/html') === true) found.push(address);
  }
  return found;
}

/** Runs in the page. Names of fields may hide `method` and `action`, so that attributes are read. */
const FORMS = `[...document.forms].flatMap((form) => {
  const method = form.getAttribute('method') ?? 'get';
  const action = form.getAttribute('action') ?? '';
  const others = [...form.querySelectorAll('[formaction]')];
  return [[method, action], ...others.map((one) => [one.getAttribute('formmethod') ?? method, one.getAttribute('formaction')])];
})`;

/** `POST /start`: where each form of a page leads, and each of its buttons that leads elsewhere. */
async function formsOf(page: Page): Promise<readonly string[]> {
  const forms = (await page.evaluate(FORMS)) as readonly (readonly [method: string, action: string])[];
  return forms.map(([method, action]) => `${method.toUpperCase()} ${new URL(action, page.url()).pathname}`);
}

/** Whether a route of the code answers where a form leads. */
function isKnown(form: string, routes: ReadonlySet<string>): boolean {
  return [...routes].some((route) => {
    const pattern = route.split('/').map((part) => (part.startsWith(':') ? '[^/]+' : part.replaceAll('.', '\\.')));
    return new RegExp(`^${pattern.join('/')}$`, 'u').test(form);
  });
}
