import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import type { Invoice } from '../../../src/domain/invoice.ts';
import { withOwnPlaces } from '../../../src/sandbox/dialect/with-own-places.ts';
import type { Faults } from '../../../src/sandbox/faults.ts';
import { startSandbox, type Sandbox } from '../../../src/sandbox/sandbox.ts';
import { memoryStore } from '../../../src/sandbox/store/memory-store.ts';
import { createInvoicingService } from '../../../src/service/client.ts';
import type { ServiceProfile } from '../../../src/service-profile/profile.ts';
import { deliveryAddress } from '../../../src/wiring/receiver/webhook-address.ts';
import { createEventReader } from '../../../src/webhooks/event-reader.ts';
import { createSignatureCheck } from '../../../src/webhooks/signature/signature-check.ts';
import { PROFILES } from '../../support/any-service/profiles.ts';
import { until } from '../../support/until.ts';

const KEY = 'sk_test_dialects';
const PAGE_SIZE = 7;
/** The last page is a full one, which is where a list's end is easiest to miss. */
const MERCHANTS = 3 * PAGE_SIZE;
const SECRET = 'c2VjcmV0LXNlY3JldC1zZWNyZXQ=';

/** Each profile as the sandbox can speak it: expressions get a place of the sandbox's own before them. */
const SPOKEN = PROFILES.map(({ name, profile }) => {
  const limits = { ...profile.limits, requestsPerSecond: null, maxConcurrency: 64 };
  const merchants = { ...profile.merchants, pageSize: PAGE_SIZE };
  return { name, profile: withOwnPlaces({ ...profile, limits, merchants }).profile };
});

interface Place {
  readonly sandbox: Sandbox;
  readonly service: ReturnType<typeof createInvoicingService>;
  readonly bodyOf: (id: string) => Promise<string>;
}

async function withSpeaker(
  profile: ServiceProfile,
  test: (place: Place) => Promise<void>,
  { faults = {}, apiKey = KEY }: { readonly faults?: Partial<Faults>; readonly apiKey?: string } = {},
): Promise<void> {
  const store = memoryStore();
  const text = JSON.stringify(profile);
  const sandbox = await startSandbox({ port: 0, store, apiKeys: [KEY], profile: text, settleMs: 5, faults });
  const service = createInvoicingService({ baseUrl: sandbox.url, apiKey, profile, application: 'test' });
  try {
    await test({ sandbox, service, bodyOf: (id) => store.invoiceBody(id) });
  } finally {
    await service.close();
    await sandbox.close();
  }
}

function merchant(number: number) {
  return { nif: String(500_000_000 + number), legalName: `Loja ${number}, "Lda."`, email: `m${number}@loja.example` };
}

function invoice(name: string, taxCode = 'IVA_23'): Invoice {
  return {
    ref: `F/${name}`,
    merchant: merchant(1),
    customer: { name: `Cliente {${name}}`, taxId: '123456789' },
    currency: 'EUR',
    lines: [{ description: `Chá "${name}"`, quantity: '2.5', unitPrice: '12345678901234567.89', taxCode }],
  } as Invoice;
}

async function merchantIn({ service }: Place): Promise<string> {
  const created = await service.createMerchant(merchant(1), 'merchant-1');
  if (created.kind !== 'created') throw new Error(`No merchant: ${JSON.stringify(created)}`);
  return created.merchantId;
}

/** An HTTP server that keeps what it is sent. */
async function recorder() {
  const deliveries: { url: string; rawHeaders: readonly string[]; raw: Buffer }[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { url = '', rawHeaders } = request;
      deliveries.push({ url, rawHeaders, raw: Buffer.concat(chunks) });
      response.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { deliveries, url: `http://127.0.0.1:${port}/webhooks`, close: () => server.close() };
}

describe.each(SPOKEN)('the sandbox with the profile $name', { concurrent: true }, ({ profile }) => {
  it('creates merchants and gives all of them in its pages', async () => {
    await withSpeaker(profile, async ({ service }) => {
      const numbers = Array.from({ length: MERCHANTS }, (_, at) => at + 1);
      const created = await Promise.all(
        numbers.map((number) => service.createMerchant(merchant(number), `m-${number}`)),
      );
      const ids = created.map((answer) => (answer.kind === 'created' ? answer.merchantId : JSON.stringify(answer)));

      const list = await service.listMerchants();

      if (list.kind !== 'list') throw new Error(JSON.stringify(list));
      expect(list.merchants.map(({ merchantId }) => merchantId).toSorted()).toEqual(ids.toSorted());
      expect(new Set(list.merchants.map(({ nif }) => nif)).size).toBe(MERCHANTS);
      const again = await service.createMerchant(merchant(1), 'another-key');
      expect(again.kind, 'a taxpayer that is there already').toBe('not-now');
    });
  });

  it('takes an invoice by the template, keeps its decimals, and settles it', async () => {
    await withSpeaker(profile, async (place) => {
      const { service, sandbox, bodyOf } = place;
      const merchantId = await merchantIn(place);
      const failing = service.invoiceBody(invoice('b', 'IVA_99'), merchantId);
      const body = service.invoiceBody(invoice('a'), merchantId);

      const created = await service.createInvoice(body, 'key-a');
      const repeated = await service.createInvoice(body, 'key-a');
      const failed = await service.createInvoice(failing, 'key-b');

      if (created.kind !== 'created' || failed.kind !== 'created') throw new Error(JSON.stringify([created, failed]));
      // A rule for repeats may read another document, without a status.
      expect(repeated).toMatchObject({ kind: 'created', serviceId: created.serviceId });
      const [booked] = sandbox.books().invoices;
      expect(JSON.parse(await bodyOf(booked?.id ?? ''))).toMatchObject({
        customer: { name: 'Cliente {a}', tax_id: '123456789' },
        lines: [{ description: 'Chá "a"', quantity: 2.5, tax_code: 'IVA_23' }],
      });
      expect(await bodyOf(booked?.id ?? '')).toContain('"unit_price":12345678901234567.89');
      await until(
        async () =>
          (await service.getInvoice(failed.serviceId)).kind === 'status' && sandbox.books().totals.processing === 0,
      );
      expect(await service.getInvoice(created.serviceId)).toMatchObject({ status: 'issued' });
      expect(await service.getInvoice(failed.serviceId)).toMatchObject({
        status: 'failed',
        reason: { code: 'tax-code-unknown' },
      });
    });
  });

  it('says no so that the profile reads it as meant', async () => {
    await withSpeaker(profile, async (place) => {
      const { service } = place;
      const merchantId = await merchantIn(place);
      await service.createInvoice(service.invoiceBody(invoice('a'), merchantId), 'key');
      const stranger = `${profile.merchants.idPrefix}4711`;

      const refused = await service.createInvoice(service.invoiceBody(invoice('b'), stranger), 'key-b');
      const mismatch = await service.createInvoice(service.invoiceBody(invoice('c'), merchantId), 'key');
      const absent = await service.getInvoice(`${profile.invoice.idPrefix}4711`);

      expect(refused.kind, JSON.stringify(refused)).toBe('refused');
      expect(mismatch.kind, JSON.stringify(mismatch)).toBe('key-mismatch');
      expect(absent, JSON.stringify(absent)).toMatchObject({ kind: 'status', status: 'unreadable' });
    });
    const busy = { faults: { status429: 1 } };
    await withSpeaker(
      profile,
      async ({ service }) => {
        const later = await service.createInvoice(service.invoiceBody(invoice('a'), 'x'), 'key');
        expect(later, JSON.stringify(later)).toMatchObject({ kind: 'not-now', retryAfterMs: 1_000 });
        expect(await service.listMerchants()).toMatchObject({ reason: { code: 'service-unreachable' } });
      },
      busy,
    );
    await withSpeaker(
      profile,
      async ({ service }) => {
        const denied = await service.createInvoice(service.invoiceBody(invoice('a'), 'x'), 'key');
        expect(denied.kind, JSON.stringify(denied)).toBe('access-denied');
        expect(await service.listMerchants()).toMatchObject({ reason: { code: 'service-unauthorized' } });
      },
      { apiKey: 'sk_test_stranger' },
    );
  });

  it('sends events that the receiver can check and read, and forged ones that it refuses', async () => {
    const receiver = await recorder();
    const faults = { webhookForged: 1 };
    try {
      await withSpeaker(
        profile,
        async (place) => {
          const { service, sandbox } = place;
          const { kind } = profile.signature;
          const ownSecret = kind === 'basic' || kind === 'path' || !profile.webhook.register ? SECRET : null;
          const address = deliveryAddress(receiver.url, kind, ownSecret) ?? '';
          const registered = profile.webhook.register ? await service.registerWebhook(address) : null;
          if (registered === null) await sandbox.registerByHand(address, SECRET);
          const secret = registered?.kind === 'registered' ? (registered.secret ?? SECRET) : SECRET;
          const merchantId = await merchantIn(place);
          const issued = await service.createInvoice(service.invoiceBody(invoice('a'), merchantId), 'a');
          const failed = await service.createInvoice(service.invoiceBody(invoice('b', 'IVA_99'), merchantId), 'b');
          await until(async () => receiver.deliveries.length >= 4);

          const check = createSignatureCheck({
            ...{ shape: profile.signature, url: () => receiver.url, log: { warn: () => undefined } },
          });
          const read = createEventReader({ ...profile, idPrefix: profile.invoice.idPrefix });
          const events = await Promise.all(
            receiver.deliveries.map(async ({ url, rawHeaders, raw }) => {
              const pathSecret = url.split('/')[2];
              const head = {
                rawHeaders,
                now: Date.now(),
                ...(pathSecret !== undefined && { pathSecret: decodeURIComponent(pathSecret) }),
              };
              const verdict = check.verify(head, [secret], raw);
              if (!verdict.ok) return verdict.why;
              const [row] = await read({ rawHeaders, raw, receivedAt: Date.now() });
              return `${row?.event?.serviceId} ${row?.event?.verdict} ${row?.event?.reason?.code}`;
            }),
          );

          const ids = [issued, failed].map((answer) => (answer.kind === 'created' ? answer.serviceId : ''));
          expect(events.toSorted()).toEqual(
            [
              `${ids[0]} issued undefined`,
              `${ids[1]} failed tax-code-unknown`,
              'signature-wrong',
              'signature-wrong',
            ].toSorted(),
          );
        },
        { faults },
      );
    } finally {
      receiver.close();
    }
  });
});
