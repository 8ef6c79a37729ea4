import { copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { BROWSER_PATH, keepScreen, launchBrowser } from '../support/browser/browser.ts';
import { gatedEngine, type GatedEngine } from '../support/crash/gated-engine.ts';
import { ownPort } from '../support/servers/own-port.ts';
import { startLoteUp, type RunningLote } from '../support/lote/running-lote.ts';
import { independentSandbox, SANDBOX_KEY } from '../support/servers/sandbox-books.ts';

const SAMPLE = fileURLToPath(new URL('../../input/sample.csv', import.meta.url));
const WORKFLOW_ID = 'started-by-hand';

/** The UI's first page is compiled by the browser on a machine that is busy with everything else. */
const PATIENCE_MS = 300_000;

describe.skipIf(BROWSER_PATH === null)('an operator in the Temporal UI', { timeout: 600_000 }, () => {
  let lote: RunningLote;
  let sandbox: Sandbox;
  let engine: GatedEngine;
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    engine = gatedEngine();
    sandbox = await independentSandbox({ engine: engine.engine });
    const port = await ownPort();
    lote = await startLoteUp({
      INVOICING_BASE_URL: sandbox.url,
      INVOICING_API_KEY: SANDBOX_KEY,
      RECEIVER_PORT: String(port),
      WEBHOOK_URL: `http://127.0.0.1:${port}/webhooks`,
    });
    await mkdir(lote.place.inputDir, { recursive: true });
    await copyFile(SAMPLE, join(lote.place.inputDir, 'sample.csv'));
    browser = await launchBrowser();
    page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    page.setDefaultTimeout(PATIENCE_MS);
  }, 600_000);

  afterAll(async () => {
    await browser?.close();
    await lote?.stop();
    await sandbox?.close();
  }, 300_000);

  it('starts a batch by its form, typing the file name alone', async () => {
    await page.goto(
      `${lote.temporalUi}/namespaces/default/workflows/start-workflow?workflowId=${WORKFLOW_ID}&taskQueue=lote&workflowType=invoiceBatch`,
    );
    const editor = page.locator('[role=textbox]:visible').first();
    await editor.fill('{"file":"sample.csv"}');
    // Losing the focus reformats the input and moves the button away: a click that comes straight after typing is lost.
    await editor.blur();
    await keepScreen(page, 'temporal-start-form');

    await page.getByTestId('start-workflow-button').click();

    await page.getByText('Workflow started successfully').waitFor();
  });

  it('pauses and resumes it by updates, and sees both in the current details', async () => {
    await page.goto(`${lote.temporalUi}/namespaces/default/workflows/${WORKFLOW_ID}`);

    await sendUpdate(page, 'pause', '{"reason":"waiting for the accountant"}');
    await expectDetails(page, 'paused by an operator');
    await keepScreen(page, 'temporal-paused');

    await sendUpdate(page, 'resume', null);
    await expectDetails(page, 'Now\tall sent: waiting for final answers');
    await keepScreen(page, 'temporal-resumed');
  });

  it('is told in one sentence what a pause needs', async () => {
    const dialog = await chooseUpdate(page, 'pause', '{}');
    await dialog.locator('[data-testid=confirm-modal-button]:visible').click();

    await dialog.getByText('A reason is needed: {"reason": "why"}').first().waitFor();
    await keepScreen(page, 'temporal-update-refused');
    await page.keyboard.press('Escape');
  });

  it('reads the end of the batch there', async () => {
    engine.open();

    await expectDetails(page, 'Now\tdone');
    await keepScreen(page, 'temporal-done');
    expect(sandbox.books().duplicates).toEqual([]);
  });
});

async function chooseUpdate(page: Page, name: string, input: string | null): Promise<Locator> {
  await page.getByRole('button', { name: 'More Actions' }).click();
  await page.getByRole('menuitem', { name: 'Send an Update' }).click();
  // The dialog stands twice in the page; only one of them is open.
  const dialog = page.locator('dialog[open]');
  await dialog.locator('[data-testid=update-select-button]:visible').click();
  await dialog.locator('[role=option]:visible', { hasText: name }).first().click();
  if (input !== null) {
    const box = dialog.locator('[role=textbox][contenteditable=true]:visible').last();
    await box.fill(input);
    await box.blur();
  }
  return dialog;
}

async function sendUpdate(page: Page, name: string, input: string | null): Promise<void> {
  const dialog = await chooseUpdate(page, name, input);
  await dialog.locator('[data-testid=confirm-modal-button]:visible').click();
  await dialog.waitFor({ state: 'hidden' });
}

/** The details are what the worker said last; their page is loaded again until they say what is waited for. */
async function expectDetails(page: Page, text: string): Promise<void> {
  const details = page.frameLocator('iframe[title=output]').first();
  await expect
    .poll(
      async () => {
        await page.reload();
        // Chosen after every load: the UI goes back to the history by itself when an update has ended.
        await page.getByTestId('user-metadata-tab').click();
        return (
          details
            // The frame is there before its words are: an empty one would only be loaded again, and again be empty.
            .locator('body', { hasText: 'Invoices' })
            .innerText({ timeout: 15_000 })
            .catch(() => '')
        );
      },
      { timeout: PATIENCE_MS, interval: 500 },
    )
    .toContain(text);
}
