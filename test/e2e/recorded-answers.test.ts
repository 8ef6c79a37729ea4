import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startFake, type FakeService } from '../services/fake/fake-service.ts';
import { FAILING_TAX_CODE, REFUSED_TAX_CODE } from '../services/fake/operations.ts';
import { stripeLike } from '../services/stripe-like.ts';
import { batchFile, MERCHANT_NIF } from '../support/files/batch-file.ts';
import { endLeftServer } from '../support/crash/crash-place.ts';
import { newPlace, runLote, type Place } from '../support/lote/lote-command.ts';
import { ownPort } from '../support/servers/own-port.ts';

const NEW_NIF = '502011378';
const CUSTOMER = { customer: 'Joaquina Vasconcelos', customerTaxId: '243210987' };
const MERCHANT = { legalName: 'Padaria Sintrense Lda', email: 'joaquina@sintrense.example' };
const PRIVATE = [
  ...[MERCHANT_NIF, NEW_NIF, CUSTOMER.customer, CUSTOMER.customerTaxId, MERCHANT.legalName, MERCHANT.email],
  ...['Joaquina', 'Vasconcelos', 'Sintrense'],
];
const INVOICES = [
  { ref: 'F-1', ...CUSTOMER, ...MERCHANT },
  { ref: 'F-2', ...CUSTOMER, ...MERCHANT, nif: NEW_NIF },
  { ref: 'F-3', ...CUSTOMER, ...MERCHANT, taxCode: FAILING_TAX_CODE },
  { ref: 'F-4', ...CUSTOMER, ...MERCHANT, taxCode: REFUSED_TAX_CODE },
];

interface ReplayDocument {
  readonly understood: boolean;
  readonly rows: readonly { readonly understood: boolean | null; readonly says: string }[];
  readonly summary: readonly { readonly operation: string; readonly records: number; readonly understood: number }[];
}

describe('a batch whose answers and deliveries are recorded', { timeout: 240_000 }, () => {
  let place: Place;
  let fake: FakeService;
  let capture: string;
  let env: Record<string, string>;

  beforeEach(async () => {
    place = await newPlace();
    fake = await startFake({ family: stripeLike, existing: [MERCHANT_NIF] });
    capture = join(place.directory, 'capture');
    const port = await ownPort();
    env = {
      ...place.env,
      INVOICING_BASE_URL: fake.url,
      INVOICING_API_KEY: fake.key,
      ...{ RECEIVER_PORT: String(port), WEBHOOK_URL: `http://127.0.0.1:${port}/webhooks`, CONSOLE_PORT: '0' },
      SERVICE_PROFILE: await profileFile('right', {}),
      LOTE_CAPTURE: capture,
    };
    await writeFile(join(place.directory, 'may.csv'), batchFile(INVOICES));
  }, 60_000);

  afterEach(async () => {
    await endLeftServer(place.dataDir);
    await fake.close();
    await place.remove();
  });

  async function profileFile(name: string, invoice: Readonly<Record<string, unknown>>): Promise<string> {
    const path = join(place.directory, `${name}.json`);
    const profile = stripeLike.profile as { readonly invoice: object };
    await writeFile(path, JSON.stringify({ ...profile, invoice: { ...profile.invoice, ...invoice } }));
    return path;
  }

  async function replayed(profile: string): Promise<ReplayDocument & { readonly code: number | null }> {
    const { code, stdout, stderr } = await runLote(['profile', 'replay', capture, '--profile', profile, '--json'], {
      PATH: process.env['PATH'] ?? '',
    });
    if (stdout === '') throw new Error(stderr);
    return { code, ...(JSON.parse(stdout) as ReplayDocument) };
  }

  it('leaves files that hold nothing private, and that the right profile understands', async () => {
    const { stderr } = await runLote(['run', join(place.directory, 'may.csv')], env);
    expect(fake.books.invoices, stderr).toHaveLength(3);

    const names = await readdir(capture);
    expect((await stat(capture)).mode & 0o777).toBe(0o700);
    const files = await Promise.all(names.map(async (name) => readFile(join(capture, name), 'utf8')));
    const modes = await Promise.all(names.map(async (name) => (await stat(join(capture, name))).mode & 0o777));
    expect(new Set(modes)).toEqual(new Set([0o600]));
    const secrets = fake.deliveries.endpoints.map(({ secret }) => secret);
    expect(secrets).toHaveLength(1);
    for (const text of [...PRIVATE, ...secrets, fake.key])
      expect(formsOf(text).filter((form) => files.some((file) => file.toLowerCase().includes(form)))).toEqual([]);

    const right = await replayed(env['SERVICE_PROFILE'] ?? '');
    expect(right.rows.filter(({ understood }) => understood !== true)).toEqual([]);
    expect(right.code).toBe(0);
    const operations = Object.fromEntries(right.summary.map(({ operation, records }) => [operation, records]));
    expect(operations).toMatchObject({ 'create-merchant': 1, 'create-invoice': 4, 'register-webhook': 1 });
    expect(operations['delivery']).toBeGreaterThanOrEqual(3);

    const wrong = await replayed(await profileFile('wrong', { status: '/state', id: '/invoice/id' }));
    expect(wrong.code).toBe(1);
    expect(wrong.rows.filter(({ understood }) => understood === false).map(({ says }) => says)).toContain(
      'HTTP 200: no id at /invoice/id; see invoice.id and its idPrefix in the profile',
    );
  });
});

/** A text in lower case: as it is, in an address, and inside base64 at each offset. */
function formsOf(text: string): readonly string[] {
  const inside = [0, 1, 2].map((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), Buffer.from(text)]).toString('base64');
    return encoded.replace(/=+$/, '').slice(offset === 0 ? 0 : offset + 1, -2);
  });
  return [text, encodeURIComponent(text), ...inside].map((form) => form.toLowerCase());
}
