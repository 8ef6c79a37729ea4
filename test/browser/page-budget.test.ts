import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CONSOLE_STYLE } from '../../src/console/console-app.ts';
import { STYLE } from '../../src/report/html/html-report.ts';
import { BROWSER_PATH, launchBrowser, weighPage } from '../support/browser/browser.ts';
import { overflowOf, seriousViolations } from '../support/browser/page-checks.ts';
import { startFurnishedConsole, type FurnishedConsole } from '../support/console/furnished-console.ts';
import { temporaryDatabase } from '../support/servers/temporary-database.ts';

/** Of all that a page loads, unpacked. */
const MOST_BYTES = 100_000;
/** The page of an address that is none. */
const NOWHERE = '/nowhere';
/** A page may wait for a machine that is busy with everything else. */
const PATIENCE_MS = 300_000;
/** What does nothing by itself. */
const INERT = 'button[type=button], button:not(form *), [onclick], a[href^="javascript:"], a[href="#"]';
/**
 * Runs in the page: its text without the sentence about the rate of a running batch, which is another one a minute later. In one step, because the page's own
 * script may put a newer one in its place.
 */
const TEXT_WITHOUT_PACE = `(() => {
  document.querySelectorAll('p.rate').forEach((sentence) => sentence.remove());
  return document.body.innerText;
})()`;
/** What changes from one reading to the next. */
const MOMENTS = /\d/gu;

/** What one page is to somebody who opens it. */
interface Visit {
  /** All text without what changes from one reading to the next. */
  readonly text: string;
  readonly forms: readonly string[];
  /** Texts of controls that do nothing by themselves. */
  readonly inert: readonly string[];
}

describe.skipIf(BROWSER_PATH === null)('every page of a console with years of work in it', { timeout: 600_000 }, () => {
  let served: FurnishedConsole;
  let browser: Browser;
  /** Addresses that answer with a page: found by asking, so that a new page is among them. */
  let pages: readonly string[];
  /** By address: the tests that only read look at the same two walks. */
  const scripted = new Map<string, Visit>();
  const unscripted = new Map<string, Visit>();
  const weights = new Map<string, number>();
  /** Of the walk with JavaScript. */
  let excluded: readonly string[];

  beforeAll(async () => {
    served = await startFurnishedConsole(await temporaryDatabase(), { large: 10_000, each: 60 });
    browser = await launchBrowser();
    pages = [...(await pagesAmong(served)), NOWHERE];
    excluded = await walk({ colorScheme: 'light', viewport: { width: 1280, height: 800 } }, async (page, address) => {
      const { decoded } = await weighPage(page, () => page.goto(address));
      weights.set(address, decoded);
      const found = await exclusions(page);
      scripted.set(address, await reading(page));
      return found;
    });
    await walk({ javaScriptEnabled: false }, async (page, address) => {
      await page.goto(address);
      unscripted.set(address, await reading(page));
      return [];
    });
  }, 600_000);

  afterAll(async () => {
    await browser?.close();
    await served?.stop();
  });

  /** Opens a window, in which `look` goes to the address of one page after the other, and collects what is said of them. */
  async function walk(
    options: BrowserContextOptions,
    look: (page: Page, address: string) => Promise<readonly string[]>,
  ) {
    // The checker is put into the page; its own policy would keep it out.
    const context = await browser.newContext({
      ...{ bypassCSP: true, locale: 'en-GB', baseURL: served.url },
      ...options,
    });
    const said: string[] = [];
    try {
      const page = await context.newPage();
      page.setDefaultTimeout(PATIENCE_MS);
      for (const address of pages) said.push(...(await look(page, address)).map((one) => `${address}: ${one}`));
    } finally {
      await context.close();
    }
    return said;
  }

  it('is found from the routes of the code', () => {
    expect(served.addresses.filter((address) => address.includes('/:'))).toEqual([]);
    expect(pages.length).toBeGreaterThanOrEqual(15);
  });

  it('weighs less than 100 kB with all that it loads', () => {
    expect([...weights].filter(([, bytes]) => bytes >= MOST_BYTES)).toEqual([]);
    // Style, script and icon are among it.
    expect(Math.min(...weights.values())).toBeGreaterThan(7_000);
  });

  it('shuts nobody out, en-GB, light, 1280 px wide', () => {
    expect(excluded).toEqual([]);
    expect(scripted.size).toBe(pages.length);
  });

  it.each([
    ['pt-PT', 'dark', 380],
    ['es-ES', 'light', 380],
  ] as const)('shuts nobody out, %s, %s, %i px wide', async (locale, colorScheme, width) => {
    const found = await walk({ locale, colorScheme, viewport: { width, height: 800 } }, async (page, address) => {
      await page.goto(address);
      return exclusions(page);
    });

    expect(found).toEqual([]);
  });

  it('says the same without JavaScript, with the same forms', () => {
    const said = (visited: ReadonlyMap<string, Visit>) =>
      [...visited].map(([at, { text, forms }]) => [at, text, forms]);

    expect(said(unscripted)).toEqual(said(scripted));
    expect(unscripted.size).toBe(pages.length);
  });

  it.each([
    ['the console', CONSOLE_STYLE],
    ['a report', STYLE],
  ])('shows the words behind a name that turns the reading direction around as they are, in %s', async (_, style) => {
    const page = await browser.newPage();
    const names = ['strong', 'code', 'a', 'span'].map(
      (element) => `<li><${element}>may\u202Evsc.csv</${element}><i>: it waits for the next night</i></li>`,
    );
    await page.setContent(`<style>${style}</style><ul>${names.join('')}</ul>`);

    const turned = await page.evaluate<readonly string[]>(TURNED);

    expect(turned).toEqual([]);
    await page.close();
  });

  it('has only forms and buttons that work without JavaScript', () => {
    const known = new Set(served.routes);
    const broken = [...unscripted].flatMap(([address, { forms, inert }]) =>
      [...forms.filter((form) => !isKnown(form, known)), ...inert].map((one) => `${address}: ${one}`),
    );

    expect(broken).toEqual([]);
  });
});

/** What of a page shuts people out. */
async function exclusions(page: Page): Promise<readonly string[]> {
  const over = await overflowOf(page);
  return [...(await seriousViolations(page)), ...(over > 0 ? [`${over} px too wide`] : [])];
}

async function reading(page: Page): Promise<Visit> {
  const forms = await formsOf(page);
  const inert = await page.locator(INERT).all();
  const texts = await Promise.all(inert.map((one) => one.innerText()));
  const text = await page.evaluate<string>(TEXT_WITHOUT_PACE);
  return { text: text.replaceAll(MOMENTS, ''), forms, inert: texts };
}

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

/** Runs in the page: the elements behind which words run from right to left. */
const TURNED = `[...document.querySelectorAll('i')].filter((words) => {
  const leftOf = (at) => {
    const range = document.createRange();
    range.setStart(words.firstChild, at);
    range.setEnd(words.firstChild, at + 1);
    return range.getBoundingClientRect().left;
  };
  return leftOf(0) >= leftOf(words.textContent.length - 1);
}).map((words) => words.previousElementSibling.localName)`;

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
