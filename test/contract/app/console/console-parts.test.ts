import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Client } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startConsole, type RunningConsole } from '../../../../src/console/console-app.ts';
import { readConfig } from '../../../../src/app/config/config.ts';
import { createLogger } from '../../../../src/app/process/logger.ts';
import { DEFAULT_PROFILE } from '../../../../src/service/profile/profile.ts';
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

async function saveProfile(inputDir: string, name: string): Promise<void> {
  const profiles = join(inputDir, 'profiles');
  await mkdir(profiles, { recursive: true });
  const profile = { constants: { currency: 'USD' }, ignore: ['currency'] };
  await writeFile(join(profiles, `${name}.json`), JSON.stringify(profile));
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
