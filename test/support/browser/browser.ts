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
