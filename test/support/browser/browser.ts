import { accessSync, constants, mkdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium, type Browser, type Page } from 'playwright-core';

/** The headless shell comes first: it computes a seventh less for the same tests. */
const NAMES = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'];
const SCREENS = fileURLToPath(new URL('../../../.ci/out/screens/', import.meta.url));

/** The path of this machine's browser, or null. Without a browser, the suite is skipped with a clear message. */
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

/** Starts Chromium without its sandbox: root in a container lacks the rights, and tests open only Lote's pages. */
export async function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: BROWSER_PATH ?? '',
    // Without a graphics card, the emulation of one would compute each picture.
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
  });
}

/** Saves a picture of the page if KEEP_SCREENS is 1: no test judges the pictures, and each costs as much as a page. */
export async function keepScreen(page: Page, name: string): Promise<void> {
  if (process.env['KEEP_SCREENS'] !== '1') return;
  mkdirSync(SCREENS, { recursive: true });
  await page.screenshot({ path: join(SCREENS, `${name}.png`), fullPage: true });
}

/** The bytes of all resources of a page. */
export interface PageWeight {
  /** Bytes after decompression, without headers. */
  readonly decoded: number;
  /** Bytes on the network, with headers. */
  readonly transferred: number;
}

/**
 * Weighs all that a navigation loads: the page, its style, script and icon. Each address counts once, even if a page
 * that updates itself loads its own address again before a busy machine has shown it.
 */
export async function weighPage(page: Page, navigate: () => Promise<unknown>): Promise<PageWeight> {
  const weight = { decoded: 0, transferred: 0 };
  // An earlier page that updates itself would load its own address again, until the navigation is answered.
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
  // Without this, resources that an earlier page has loaded would weigh nothing.
  await session.send('Network.setCacheDisabled', { cacheDisabled: true });
  await navigate();
  await page.waitForLoadState('networkidle');
  await session.detach();
  return weight;
}
