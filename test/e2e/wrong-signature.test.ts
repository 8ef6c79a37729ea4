import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startFake, type FakeService } from '../services/fake/fake-service.ts';
import { shopifyLike } from '../services/shopify-like.ts';
import { batchFile, testInvoices } from '../support/files/batch-file.ts';
import { newPlace, runLote, type Place, processes, type Processes } from '../support/lote/lote-command.ts';
import { ownPort } from '../support/servers/own-port.ts';
import { sharedTemporal } from '../support/lote/running-lote.ts';
import { until } from '../support/until.ts';

const INVOICES = 12;
const EVENTS = shopifyLike.events ?? expect.fail('this service sends events');

interface Check {
  readonly name: string;
  readonly state: string;
  readonly detail: string;
}

interface ReportDocument {
  readonly counts: Readonly<Record<string, number>>;
  readonly misfits: readonly { readonly code: string; readonly message: string }[];
}

const SENTENCE = /\d+ of \d+ deliveries refused: none has the header X-Service-Signature \(signature\.header\)\./;

describe('a service that signs otherwise than its profile says', () => {
  let place: Place;
  let fake: FakeService;
  let all: Processes;
  const secrets: string[] = [];
  const newSecret = (): string => {
    const secret = EVENTS.newSecret();
    secrets.push(secret);
    return secret;
  };

  beforeEach(async () => {
    place = await newPlace();
    all = processes();
    fake = await startFake({ family: { ...shopifyLike, events: { ...EVENTS, newSecret } } });
  });

  afterEach(async () => {
    await all.killAll();
    await fake.close();
    await place.remove();
  });

  it('is told on the health page, with the setting to look at, and wherever else the operator looks', async () => {
    const { env, console: url } = await prepare();
    const owner = all.start(['up'], env);
    await until(async () => (await fetch(`${url}/health/live`).catch(() => null))?.ok === true);
    const running = runLote(['run', join(place.inputDir, 'may.csv'), '--json'], env);
    let found: Check | undefined;
    await until(async () => (found = await profileCheck(url))?.state === 'trouble');

    expect(found?.detail).toMatch(SENTENCE);
    const page = await fetch(`${url}/health`);
    expect(page.status).toBe(503);
    expect(await page.text()).toContain('(signature.header)');
    const status = await runLote(['status'], env);
    expect(status.stdout).toContain('The service profile does not fit the service: ');
    expect(status.stdout).toContain('(signature.header)');
    const ran = await running;
    const { misfits, counts } = await reportOf(ran.stdout);
    expect(counts).toMatchObject({ issued: INVOICES });
    expect(misfits.map(({ code }) => code)).toEqual(['deliveries-refused']);
    expect(misfits[0]?.message).toMatch(SENTENCE);
    await owner.said('the service profile does not fit the service');

    owner.signal('SIGTERM');
    const { stdout, stderr } = await owner.end;
    expect(secrets).toHaveLength(1);
    for (const text of [stdout, stderr, status.stdout, ran.stdout, JSON.stringify(misfits), found?.detail])
      expect(text).not.toContain(secrets[0]);
  });

  /** A place whose profile lacks the section about signatures. */
  async function prepare(): Promise<{ readonly env: Record<string, string>; readonly console: string }> {
    const [receiver, web] = [await ownPort(), await ownPort()];
    const { signature: _, ...profile } = shopifyLike.profile as Record<string, unknown>;
    await mkdir(place.inputDir, { recursive: true });
    await writeFile(join(place.inputDir, 'may.csv'), batchFile(testInvoices(INVOICES)));
    await writeFile(join(place.directory, 'profile.json'), JSON.stringify(profile));
    const env = {
      ...place.env,
      ...sharedTemporal(),
      ...{ INVOICING_BASE_URL: fake.url, INVOICING_API_KEY: fake.key },
      ...{ SERVICE_PROFILE: join(place.directory, 'profile.json'), LOTE_SETTLE_TIMEOUT: '60s' },
      ...{ RECEIVER_PORT: String(receiver), WEBHOOK_URL: `http://127.0.0.1:${receiver}/webhooks` },
      CONSOLE_PORT: String(web),
    };
    return { env, console: `http://127.0.0.1:${web}` };
  }
});

async function profileCheck(url: string): Promise<Check | undefined> {
  const { checks } = (await (await fetch(`${url}/api/health`)).json()) as { readonly checks: readonly Check[] };
  return checks.find(({ name }) => name === 'service profile');
}

async function reportOf(stdout: string): Promise<ReportDocument> {
  const { batches } = JSON.parse(stdout) as {
    readonly batches: readonly { readonly reports: { readonly json: string } }[];
  };
  return JSON.parse(await readFile(batches[0]?.reports.json ?? '', 'utf8')) as ReportDocument;
}
