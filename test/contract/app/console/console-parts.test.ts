import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Client } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startConsole, type RunningConsole } from '../../../../src/console/console-app.ts';
import { readConfig } from '../../../../src/app/config/config.ts';
import { createLogger } from '../../../../src/app/process/logger.ts';
import { DEFAULT_PROFILE } from '../../../../src/service/profile/profile.ts';
import { checkFile } from '../../../../src/app/files/check-file.ts';
import { consoleParts } from '../../../../src/app/console/console-parts.ts';
import { writeInvoiceFile } from '../../../support/files/batch-file.ts';
import { newPlace, type Place } from '../../../support/lote/lote-command.ts';
import { temporalClient } from '../../../support/servers/temporal-client.ts';
import { temporaryLedger } from '../../../support/servers/temporary-database.ts';
import type { Ledger } from '../../../../src/ledger/ledger.ts';

const temporal = temporalClient();
let place: Place;
let ledger: Ledger;
let client: Client;
let web: RunningConsole;

beforeAll(async () => {
  place = await newPlace();
  ledger = await temporaryLedger();
  client = temporal.client();
  // Nobody works on this task queue: what is started waits.
  const config = readConfig({ ...place.env, LOTE_TASK_QUEUE: `console-${process.pid}` }, place.directory);
  const parts = consoleParts({
    ...{ config, ledger, client, profile: DEFAULT_PROFILE, serviceBaseUrl: null, temporalUi: null, folders: null },
    log: createLogger({ level: 'silent', secrets: [] }),
  });
  web = await startConsole({ ...parts, host: '127.0.0.1', port: 0 });
});

afterAll(async () => {
  await web?.close();
  await ledger?.close();
  await place?.remove();
});

/** Returns the folder of the profiles. */
async function saveProfile(inputDir: string, name: string): Promise<string> {
  const profiles = join(inputDir, 'profiles');
  await mkdir(profiles, { recursive: true });
  const profile = { constants: { currency: 'USD' }, ignore: ['currency'] };
  await writeFile(join(profiles, `${name}.json`), JSON.stringify(profile));
  return profiles;
}

/** Presses the start button of a check page. */
async function start(page: string): Promise<Response> {
  const form = /<form action="\/start[^>]*>(.*?)<\/form>/su.exec(page)?.[1] ?? '';
  const fields = [...form.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)"/gu)];
  return fetch(`${web.url}/start`, {
    method: 'POST',
    redirect: 'manual',
    headers: { origin: web.url },
    body: new URLSearchParams(fields.map(([, name = '', value = '']): [string, string] => [name, value])),
  });
}

describe('the check of a file that was started before', () => {
  const NAME = 'known.csv';

  /** As its page in the console says it. */
  async function page(declared = ''): Promise<string> {
    return (await fetch(`${web.url}/check?file=${NAME}${declared}`)).text();
  }

  it('says in advance that a start with another reading would be held, and offers none', async () => {
    await mkdir(place.inputDir, { recursive: true });
    const path = join(place.inputDir, NAME);
    await writeFile(
      path,
      'invoice_ref,merchant_nif,customer_name,currency,description,quantity,unit_price,tax_code\nF1,501964843,Ana,EUR,Vela,1,1.234,IVA_23\n',
    );
    expect(await page('&decimal=.'), 'nobody knows it').toContain('action="/start');
    const { sha256, proof } = await checkFile(path, place.inputDir, { decimal: ',' });
    const run = { workflowId: 'w', runId: 'r', attempt: 1, now: Date.now(), takeOver: false, order: 'person' as const };
    const claimed = await ledger.claimBatch({ batchId: 'known', application: 'default', file: NAME, sha256, ...run });
    if (claimed.kind !== 'claimed') throw new Error(`The batch is ${claimed.kind}`);
    expect(await page('&decimal=.'), 'read anew by a start').toContain('action="/start');
    const nothing = { rows: 0, rowsWithoutInvoice: 0, invoices: 0, pageSize: 1, fileFindings: [] };
    await ledger.finishStaging(claimed.batch, { ...nothing, proof });

    const otherwise = await page('&decimal=.');

    expect(otherwise).toContain('decimal mark &quot;.&quot; instead of &quot;,&quot;');
    expect(otherwise).not.toContain('action="/start');
    expect(await page('&decimal=,')).toContain('action="/start');
    expect(await page(), 'what is not declared stays as it was').not.toContain('instead of');
  });

  it('says so of a mapping profile that was saved since', async () => {
    const profiles = await saveProfile(place.inputDir, 'known');
    // A profile is chosen by the columns of any file, so the next test must not find it.
    onTestFinished(() => rm(profiles, { recursive: true }));

    const otherwise = await page();

    expect(otherwise).toContain('<li>mapping profile known (sha256 ');
    expect(otherwise).not.toContain('action="/start');
  });
});

describe('a file of the input folder that was checked in the console', () => {
  it('is started as it was checked', async () => {
    await writeInvoiceFile(join(place.inputDir, 'checked.csv'), { invoices: 2 });
    const page = await (await fetch(`${web.url}/check?file=checked.csv`)).text();

    const answer = await start(page);

    expect(answer.status).toBe(303);
    const batch = /^\/batches\/([^?]+)/u.exec(answer.headers.get('location') ?? '')?.[1] ?? '';
    const run = client.workflow.getHandle(batch);
    expect((await run.describe()).status.name).toBe('RUNNING');
    await run.terminate();
  });

  it.each([
    ['written to', (path: string) => writeInvoiceFile(path, { invoices: 3 }), 'file-changed'],
    ['cut off', (path: string) => writeFile(path, ''), 'file-changed'],
    ['taken away', (path: string) => rm(path), 'file-unreadable'],
    ['mapped', (path: string) => saveProfile(dirname(path), 'mapped'), 'file-changed'],
  ])('is not started when it was %s since', async (how, change, code) => {
    const name = `${how.replace(' ', '-')}.csv`;
    await writeInvoiceFile(join(place.inputDir, name), { invoices: 2 });
    const page = await (await fetch(`${web.url}/check?file=${name}`)).text();
    await change(join(place.inputDir, name));

    const answer = await start(page);

    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain(code);
  });
});
