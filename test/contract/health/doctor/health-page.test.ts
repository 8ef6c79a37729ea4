import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import type { HealthCheck } from '../../../../src/console/console-options.ts';
import { readConfig } from '../../../../src/app/config/config.ts';
import { createLogger } from '../../../../src/app/process/logger.ts';
import { openLedger } from '../../../../src/app/account/open-ledger.ts';
import { readProfile } from '../../../../src/app/account/read-profile.ts';
import { consoleParts } from '../../../../src/app/console/console-parts.ts';
import { newPlace } from '../../../support/lote/lote-command.ts';
import { postgresDatabase } from '../../../support/servers/postgres-database.ts';

type Env = Readonly<Record<string, string>>;

const server = inject('postgresUrl');

/** What the health page of a console on a shared ledger shows, by name. */
async function healthPage(env: Env): Promise<Readonly<Record<string, HealthCheck>>> {
  const place = await newPlace();
  onTestFinished(() => place.remove());
  const database = await postgresDatabase(server ?? '');
  onTestFinished(() => database.drop());
  const ledger = await openLedger({ databaseUrl: database.url, directory: '' });
  onTestFinished(() => ledger.close());
  const config = readConfig({ ...place.env, DATABASE_URL: database.url, ...env }, place.directory, 'nothing');
  const { health } = consoleParts({
    ...{ config, ledger, client: null, profile: readProfile(config), temporalUi: null, folders: null },
    ...{ serviceBaseUrl: config.serviceBaseUrl, log: createLogger({ level: 'silent', secrets: [] }) },
  });
  return Object.fromEntries(((await health?.()) ?? []).map((check) => [check.name, check]));
}

async function listening(listener: RequestListener): Promise<string> {
  const http = createServer(listener);
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    http.close().closeAllConnections();
  });
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
}

describe.skipIf(server === null)('the health page', () => {
  it.each([
    ['its address alone', { INVOICING_BASE_URL: 'https://service.example' }],
    ['nothing', {}],
  ])('says what it cannot know, where a console on a shared ledger knows %s of the service', async (_, env: Env) => {
    const page = await healthPage(env);

    expect(page['ledger age']).toMatchObject({
      state: 'unknown',
      detail: expect.stringContaining('lote doctor') as string,
    });
    expect(page['receiver']).toMatchObject({
      state: 'unknown',
      detail: expect.stringContaining('WEBHOOK_URL') as string,
    });
    // Its address is enough to ask whether it answers; nobody answers at this one.
    expect(page['service'] ?? page['service name']).toMatchObject({
      state: expect.stringMatching(/unknown|trouble/) as string,
    });
  });

  it('asks the service nothing but whether it answers, and shows what answers beside what hangs', async () => {
    const asked: string[] = [];
    const service = await listening(({ method, url }, response) => {
      asked.push(`${method ?? ''} ${url ?? ''}`);
      response.end();
    });
    const receiver = await listening((_, response) => {
      const dribble = setInterval(() => response.write('.'), 1_000);
      response.once('close', () => clearInterval(dribble));
    });

    const page = await healthPage({
      ...{ INVOICING_BASE_URL: service, INVOICING_API_KEY: 'sk_test_sandbox', WEBHOOK_URL: `${receiver}/webhooks` },
      ...{ TEMPORAL_ADDRESS: inject('temporalAddress') },
    });

    expect(asked).toEqual(['HEAD /']);
    expect(page).toMatchObject({
      receiver: { state: 'trouble', detail: expect.stringContaining('did not answer within') as string },
      ...{ service: { state: 'ok' }, temporal: { state: 'ok' }, 'ledger schema': { state: 'ok' } },
    });
  });
});
