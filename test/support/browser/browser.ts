import { accessSync, constants, mkdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium, type Browser, type Page } from 'playwright-core';

/** The shell without windows first: it computes a seventh less for the same tests. */
const NAMES = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'];
const SCREENS = fileURLToPath(new URL('../../../.ci/out/screens/', import.meta.url));

/** The machine's own browser, or null; a suite without one is left out, and says so where nobody can overlook it. */
export const BROWSER_PATH = findOnPath(NAMES);

if (BROWSER_PATH === null) {
  console.warn(
    `\n!!! BROWSER TESTS LEFT OUT: none of ${NAMES.join(', ')} is on the PATH.\n!!! Install one (Debian: apt-get install chromium) and run npm test again.\n`,
  );
}

function findOnPath(names: readonly string[]): string | null {
  const directories = (process.env['PATH'] ?? '').split(delimiter);
  return directories.flatMap((directory) => names.map((name) => join(directory, name))).find(isExecutable) ?? null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Chromium's own sandbox needs rights that root in a container does not have; only our own pages are opened. */
export async function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: BROWSER_PATH ?? '',
    // Without a graphics card its emulation would compute each picture.
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
  });
}

/** Keeps a picture of the page among the results of the run, where somebody wants pictures: no test judges them, and each costs as much as a page. */
export async function keepScreen(page: Page, name: string): Promise<void> {
  if (process.env['KEEP_SCREENS'] !== '1') return;
  mkdirSync(SCREENS, { recursive: true });
  await page.screenshot({ path: join(SCREENS, `${name}.png`), fullPage: true });
}

/** Bytes of everything that a page loads. */
export interface PageWeight {
  /** Unpacked, without headers. */
  readonly decoded: number;
  /** As it travels, with headers. */
  readonly transferred: number;
}

/**
 * Weighs what a navigation loads: the page, its style, its script, its icon. Each address counts once, also where a page that keeps itself up to date asks
 * for its own again before a busy machine has shown it.
 */
export async function weighPage(page: Page, navigate: () => Promise<unknown>): Promise<PageWeight> {
  const weight = { decoded: 0, transferred: 0 };
  // An earlier page that keeps itself up to date would ask for its own once more, until the navigation is answered.
  await page.goto('about:blank');
  const session = await page.context().newCDPSession(page);
  const addresses = new Set<string>();
  const counted = new Set<string>();
  session.on('Network.requestWillBeSent', ({ requestId, request: { url } }) => {
    if (!addresses.has(url)) counted.add(requestId);
    addresses.add(url);
  });
  session.on('Network.dataReceived', ({ requestId, dataLength }) => {
    if (counted.has(requestId)) weight.decoded += dataLength;
  });
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    if (counted.has(requestId)) weight.transferred += encodedDataLength;
  });
  await session.send('Network.enable');
  // What an earlier page has loaded weighs nothing otherwise.
  await session.send('Network.setCacheDisabled', { cacheDisabled: true });
  await navigate();
  await page.waitForLoadState('networkidle');
  await session.detach();
  return weight;
}
