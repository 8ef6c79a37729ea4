import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { BROWSER_PATH, keepScreen, launchBrowser } from '../support/browser/browser.ts';

import { batchFile, testInvoices } from '../support/files/batch-file.ts';
import { ownPort } from '../support/servers/own-port.ts';
import { startLoteUp, type RunningLote } from '../support/lote/running-lote.ts';
import {
  independentSandbox,
  SANDBOX_KEY,
  startServiceFront,
  type ServiceFront,
  gatedEngine,
  type GatedEngine,
} from '../support/servers/service-front.ts';

const WORKFLOW_ID = 'started-by-hand';
const CANCELLED_ID = 'cancelled-by-hand';
const RETRIED_ID = 'retried-by-hand';
/** The query that the UI asks for details. */
const METADATA = '__temporal_workflow_metadata';

/** The UI's first page is compiled by the browser on a machine that is busy with everything else. */
const PATIENCE_MS = 300_000;

describe.skipIf(BROWSER_PATH === null)('an operator in the Temporal UI', { timeout: 600_000 }, () => {
  let lote: RunningLote;
  let sandbox: Sandbox;
  let engine: GatedEngine;
  let front: ServiceFront;
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    engine = gatedEngine();
    sandbox = await independentSandbox({ engine: engine.engine });
    front = await startServiceFront(sandbox.url);
    const port = await ownPort();
    lote = await startLoteUp({
      INVOICING_BASE_URL: front.url,
      INVOICING_API_KEY: SANDBOX_KEY,
      RECEIVER_PORT: String(port),
      WEBHOOK_URL: `http://127.0.0.1:${port}/webhooks`,
    });
    await mkdir(lote.place.inputDir, { recursive: true });
    await writeFile(join(lote.place.inputDir, 'sample.csv'), batchFile(testInvoices(15)));
    browser = await launchBrowser();
    page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    page.setDefaultTimeout(PATIENCE_MS);
  }, 600_000);

  afterAll(async () => {
    await browser?.close();
    await lote?.remove();
    await front?.close();
    await sandbox?.close();
  }, 300_000);

  it('starts a batch by its form, typing the file name alone', async () => {
    await startWorkflow({ type: 'invoiceBatch', id: WORKFLOW_ID, input: '{"file": "sample.csv"}' });

    await expectShown(WORKFLOW_ID, 'Console: this batch');
  });

  it('pauses and resumes it by updates, and its details say both', async () => {
    await sendUpdate(page, 'pause', '{"reason":"waiting for the accountant"}');
    await expectSaid(WORKFLOW_ID, 'paused by an operator');

    await sendUpdate(page, 'resume', null);
    await expectSaid(WORKFLOW_ID, 'Now\tall sent: waiting for final answers');
  });

  it('is told in one sentence what a pause needs', async () => {
    const dialog = await chooseUpdate(page, 'pause', '{}');
    await dialog.locator('[data-testid=confirm-modal-button]:visible').click();

    await dialog.getByText('A reason is needed: {"reason": "why"}').first().waitFor();
    await keepScreen(page, 'temporal-update-refused');
    await page.keyboard.press('Escape');
  });

  it('has the service asked at once by an update', async () => {
    const gets = (): number =>
      front.requests.filter(({ method, path }) => method === 'GET' && path.startsWith('/v1/invoices/')).length;
    const before = gets();

    await sendUpdate(page, 'settleNow', null);

    await expect.poll(gets, { timeout: PATIENCE_MS }).toBeGreaterThan(before);
  });

  it('cancels what is not sent of another batch, by an update', async () => {
    front.script = ({ path }) =>
      path.startsWith('/v1/merchants') ? { status: 429, headers: { 'retry-after': '1' } } : 'pass';
    await writeFile(join(lote.place.inputDir, 'cancelled.csv'), batchFile(testInvoices(3, { nif: '502757191' })));
    await startWithoutForm(CANCELLED_ID, { file: 'cancelled.csv' });
    await expectSaid(CANCELLED_ID, 'Now\tmaking sure the merchants exist');
    await page.goto(pageOf(CANCELLED_ID));

    await sendUpdate(page, 'cancelRemaining', '{"reason":"the wrong month"}');

    await expectSaid(CANCELLED_ID, 'Now\tdone', '3 invoices are not confirmed as issued');
    front.script = () => 'pass';
  });

  it('is told of the end of the batch by its details, and by its report what was done by hand', async () => {
    engine.open();

    await expectSaid(WORKFLOW_ID, 'Now\tdone');

    const { audit } = await reportOf('batch-sample');
    expect(audit.map(({ what }) => what)).toEqual(['pause', 'resume', 'settle-now']);
    expect(sandbox.books().duplicates).toEqual([]);
  });

  it('sends the held invoices of the cancelled batch again, by the form and the input that its details name', async () => {
    const details = await expectShown(CANCELLED_ID, 'Now\tdone', 'retryInvoices');
    const input = /\{"batch": "batch-cancelled-[0-9a-f]{8}"\}/.exec(details)?.[0];

    await startWorkflow({ type: 'retryInvoices', id: RETRIED_ID, input: input ?? expect.fail('no input') });

    await expectSaid(RETRIED_ID, 'Nothing: every invoice went out');
    const { counts } = await reportOf('batch-cancelled');
    expect(counts).toMatchObject({ invoices: 3, issued: 3, held: 0 });
    expect(sandbox.books().duplicates).toEqual([]);
  });

  it('finds the runs of a batch by the name of its file', async () => {
    const query = 'LoteBatch STARTS_WITH "batch-cancelled"';
    await page.goto(`${lote.temporalUi}/namespaces/default/workflows?query=${encodeURIComponent(query)}`);

    await page.getByRole('link', { name: CANCELLED_ID }).first().waitFor();
    await page.getByRole('link', { name: RETRIED_ID }).first().waitFor();
    expect(await page.getByRole('link', { name: WORKFLOW_ID }).count()).toBe(0);
    await keepScreen(page, 'temporal-find');
  });

  /** By the UI's own form, with an input as `docs/operating.md` shows it. */
  async function startWorkflow({ type, id, input }: { type: string; id: string; input: string }): Promise<void> {
    await page.goto(
      `${lote.temporalUi}/namespaces/default/workflows/start-workflow?workflowId=${id}&taskQueue=lote&workflowType=${type}`,
    );
    const editor = page.locator('[role=textbox]:visible').first();
    await editor.fill(input);
    // Losing the focus reformats the input and moves the button away: a click that comes straight after typing is lost.
    await editor.blur();
    // A run starts with what the editor has at the click.
    await expect
      .poll(async () => JSON.parse(await editor.innerText()) as unknown, { timeout: PATIENCE_MS })
      .toEqual(JSON.parse(input));
    await keepScreen(page, `temporal-start-${type}`);
    await page.getByTestId('start-workflow-button').click();
    await page.getByText('Workflow started successfully').waitFor();
  }

  /** As the form does. */
  async function startWithoutForm(id: string, input: object): Promise<void> {
    const base64 = (text: string): string => Buffer.from(text).toString('base64');
    const payload = { metadata: { encoding: base64('json/plain') }, data: base64(JSON.stringify(input)) };
    const request = { workflowType: { name: 'invoiceBatch' }, taskQueue: { name: 'lote' }, requestId: id };
    expect(await ask(`workflows/${id}`, { ...request, input: { payloads: [payload] } })).toHaveProperty('runId');
  }

  const pageOf = (id: string): string => `${lote.temporalUi}/namespaces/default/workflows/${id}`;

  /** The page of a run shows these details. The browser proves so where the details are of a new form; what they say then, the server is asked. */
  async function expectShown(id: string, ...texts: readonly string[]): Promise<string> {
    // The page of a running workflow computes for as long as it is open.
    await page.goto('about:blank');
    await expectSaid(id, ...texts);
    let shown = '';
    const details = page.frameLocator('iframe[title=output]').first();
    await expect
      .poll(
        async () => {
          await page.goto(pageOf(id));
          await page.getByTestId('user-metadata-tab').click();
          shown = await details
            // The frame is there before its words are: an empty one would only be loaded again, and again be empty.
            .locator('body', { hasText: 'Invoices' })
            .innerText({ timeout: 15_000 })
            .catch(() => '');
          return texts.filter((text) => !shown.includes(text));
        },
        // A load costs the browser more than a second of computing, and a batch is not done sooner for being looked at.
        { timeout: PATIENCE_MS, interval: 3_000 },
      )
      .toEqual([]);
    return shown;
  }

  /** What the UI asks for its details: what the worker said last holds all of these sooner or later. */
  async function expectSaid(id: string, ...texts: readonly string[]): Promise<void> {
    const said = async (): Promise<string> => {
      const { queryResult } = (await ask(`workflows/${id}/query/${METADATA}`, { query: { queryType: METADATA } })) as {
        readonly queryResult?: { readonly payloads: readonly { readonly data: string }[] };
      };
      const metadata = Buffer.from(queryResult?.payloads[0]?.data ?? '', 'base64').toString();
      const { currentDetails = '' } = JSON.parse(metadata || '{}') as { readonly currentDetails?: string };
      // Markdown: the browser shows the text of a link, and a tab between two cells.
      return currentDetails.replaceAll(/\[([^\]]*)\]\([^)]*\)/gu, '$1').replaceAll(' | ', '\t');
    };
    const isAllSaid = (details: string): boolean => texts.every((text) => details.includes(text));
    await expect
      .poll(said, { message: `details of ${id} with ${texts.join(', ')}`, timeout: PATIENCE_MS, interval: 400 })
      .toSatisfy(isAllSaid);
  }

  /** Asks the server by the UI's own address, as its pages do. */
  async function ask(path: string, body: object): Promise<unknown> {
    const [cookie = ''] = (await fetch(lote.temporalUi)).headers.getSetCookie();
    const headers = { cookie: cookie.split(';')[0] ?? '', 'x-csrf-token': /=([^;]+)/.exec(cookie)?.[1] ?? '' };
    const answer = await fetch(`${lote.temporalUi}/api/v1/namespaces/default/${path}`, {
      ...{ method: 'POST', headers, body: JSON.stringify(body) },
    });
    return answer.json();
  }

  /** The only batch whose id begins so. */
  async function reportOf(batch: string): Promise<Report> {
    const name = (await readdir(lote.place.reportsDir)).find((folder) => folder.startsWith(batch));
    return JSON.parse(await readFile(join(lote.place.reportsDir, name ?? '', 'report.json'), 'utf8')) as Report;
  }
});

interface Report {
  readonly counts: Readonly<Record<string, number>>;
  readonly audit: readonly { readonly what: string }[];
}

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
