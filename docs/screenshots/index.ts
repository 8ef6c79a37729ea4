import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { BROWSER_PATH, launchBrowser } from '../../test/support/browser/browser.ts';
import { runLote } from '../../test/support/lote/lote-command.ts';
import { startLoteUp, type RunningLote } from '../../test/support/lote/running-lote.ts';

const SAMPLE = fileURLToPath(new URL('../../input/sample.csv', import.meta.url));
/** As wide as a README shows pictures; high enough for what a reader looks at first. */
const VIEWPORT = { width: 1200, height: 800 };
/** A README that takes seconds to show is not read. */
const LARGEST_BYTES = 300_000;
/** `run` ends with it when the batch is finished and some invoices are not issued: the sample has wrong rows. */
const SOME_NOT_ISSUED = 1;

async function picture(page: Page, name: string): Promise<void> {
  const path = fileURLToPath(new URL(`${name}.png`, import.meta.url));
  await page.screenshot({ path, animations: 'disabled' });
  const { size } = statSync(path);
  if (size > LARGEST_BYTES) throw new Error(`${name}.png: expected at most ${LARGEST_BYTES} bytes, found ${size}`);
  process.stdout.write(`docs/screenshots/${name}.png: ${size} bytes\n`);
}

/** Issues the sample with the built-in sandbox, and returns the id of its batch. */
async function issueSample({ place }: RunningLote): Promise<string> {
  const { code, stderr } = await runLote(['run', SAMPLE], place.env);
  if (code !== SOME_NOT_ISSUED) throw new Error(`lote run: expected exit code 1, found ${code}: ${stderr}`);
  const batch = readdirSync(place.reportsDir).find((name) => name.startsWith('batch-sample-'));
  if (batch === undefined) throw new Error(`lote run: expected a report in ${place.reportsDir}, found none`);
  return batch;
}

/** `npm run screenshots`: the real product with its sandbox, in a temporary place, seen by Chromium. */
async function takeScreenshots(): Promise<void> {
  if (BROWSER_PATH === null) throw new Error('Taking screenshots needs Chromium on the PATH');
  const lote = await startLoteUp();
  const browser = await launchBrowser();
  try {
    const batch = await issueSample(lote);
    const page = await browser.newPage({ viewport: VIEWPORT, locale: 'en-GB', colorScheme: 'light' });
    await page.goto(new URL(`batches/${batch}`, `${lote.console}/`).href);
    await page.getByRole('link', { name: 'Open the report' }).waitFor();
    await picture(page, 'console');
    await page.goto(pathToFileURL(join(lote.place.reportsDir, batch, 'report.html')).href);
    await picture(page, 'report');
  } finally {
    await browser.close();
    await lote.remove();
  }
}

await takeScreenshots();
