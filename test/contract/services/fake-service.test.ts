import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { FAILING_TAX_CODE, REFUSED_TAX_CODE } from '../../services/fake/operations.ts';
import { startFake, type FakeOptions, type FakeService } from '../../services/fake/fake-service.ts';
import { PUBLISHED } from '../../services/fake/published.ts';
import { FAMILIES } from '../../services/families.ts';
import { githubLike } from '../../services/github-like.ts';
import { stripeLike } from '../../services/stripe-like.ts';
import { until } from '../../support/until.ts';

const EXISTING_NIF = '501964843';
/** These families create invoices with the published body. */
const AS_PUBLISHED = FAMILIES.filter(({ requests }) => requests.createInvoice === PUBLISHED.createInvoice);

async function withFake(options: FakeOptions, test: (fake: FakeService) => Promise<void>): Promise<void> {
  const fake = await startFake({ existing: [EXISTING_NIF], ...options });
  try {
    await test(fake);
  } finally {
    await fake.close();
  }
}

/** Sends one request as the family wants it. */
async function ask(fake: FakeService, options: FakeOptions, over: { path: string; key?: string; body?: string }) {
  const { requests } = options.family;
  return await fetch(fake.url + over.path, {
    method: over.body === undefined ? 'GET' : 'POST',
    headers: {
      authorization: `Bearer ${fake.key}`,
      ...requests.headers,
      ...(over.body !== undefined && { 'content-type': requests.contentType }),
      ...(over.key !== undefined && { 'idempotency-key': over.key }),
    },
    ...(over.body !== undefined && { body: over.body }),
  });
}

function invoiceOf(fake: FakeService, { price = '10.25', taxCode = 'IVA_23' } = {}): string {
  const merchant = fake.books.merchants.find(({ nif }) => nif === EXISTING_NIF)?.id ?? '';
  return `{"merchant_id":${JSON.stringify(merchant)},"customer":{"name":"A","tax_id":"1"},"currency":"EUR","lines":[{"description":"B","quantity":2,"unit_price":${price},"tax_code":"${taxCode}"}]}`;
}

/** The next address of a list in each family, written a second time here. */
const NEXT: Readonly<Record<string, (body: never, url: URL, link: string | null) => string | null>> = {
  'stripe-like': (body: { has_more: boolean; data: { id: string }[] }) =>
    body.has_more ? `?limit=100&starting_after=${body.data.at(-1)?.id}` : null,
  'standard-webhooks-like': (body: { pagination: { next_cursor: string | null } }) =>
    body.pagination.next_cursor === null ? null : `?after=${body.pagination.next_cursor}`,
  'github-like': (_body, _url, link) => /<([^>]+)>; rel="next"/.exec(link ?? '')?.[1] ?? null,
  'shopify-like': (body: { next: string | null }) => body.next,
  'slack-like': (body: { response_metadata: { next_cursor: string } }) =>
    body.response_metadata.next_cursor === '' ? null : `?cursor=${body.response_metadata.next_cursor}`,
  'envelope-like': ({ result }: { result: { page: number; total_pages: number } }) =>
    result.page < result.total_pages ? `?page=${result.page + 1}` : null,
  'google-like': (body: { nextPageToken?: string }) =>
    body.nextPageToken === undefined ? null : `?pageToken=${body.nextPageToken}`,
  'json-api-like': (body: { links: { next: string | null } }) => body.links.next,
  'location-like': (body: { skip: number; take: number; total: number }) =>
    body.skip + body.take < body.total ? `?skip=${body.skip + body.take}` : null,
  'laravel-like': (body: { data: unknown[] }, url) =>
    body.data.length === 0 ? null : `?p=${Number(url.searchParams.get('p') ?? 0) + 1}`,
  'square-like': (body: { merchants: unknown[] }, url) =>
    body.merchants.length < 25 ? null : `?offset=${Number(url.searchParams.get('offset') ?? 0) + 25}`,
  'polling-like': (body: { last: boolean; page: { number: number } }) =>
    body.last ? null : `?page=${body.page.number + 1}`,
};

describe('the fake services', { concurrent: true }, () => {
  it.each(FAMILIES)('$name has a list of several pages that holds every merchant', async (family) => {
    await withFake({ family }, async (fake) => {
      const seen: string[] = [];
      let pages = 0;
      let next: string | null = '';
      let url = new URL(fake.url + family.requests.listMerchants);
      while (next !== null && pages < 50) {
        url = new URL(next, url);
        // Each page names the next one.
        // oxlint-disable-next-line no-await-in-loop
        const answer = await ask(fake, { family }, { path: url.pathname + url.search });
        expect(answer.status).toBe(200);
        // oxlint-disable-next-line no-await-in-loop
        const text = await answer.text();
        seen.push(text);
        pages += 1;
        next = NEXT[family.name]?.(JSON.parse(text) as never, url, answer.headers.get('link')) ?? null;
      }

      expect(pages).toBeGreaterThan(2);
      expect(seen[0]).not.toContain(EXISTING_NIF);
      for (const { nif } of fake.books.merchants) expect(seen.filter((page) => page.includes(nif))).toHaveLength(1);
      expect(fake.books.mistakes).toEqual([]);
    });
  });

  it.each(AS_PUBLISHED)(
    '$name answers a key with one document for ever, and other bytes with a mismatch',
    async (family) => {
      await withFake({ family }, async (fake) => {
        const post = async (body: string) =>
          await ask(fake, { family }, { path: family.requests.createInvoice.path, key: 'k1', body });
        const first = await post(invoiceOf(fake));
        expect([200, 201, 202]).toContain(first.status);
        await post(invoiceOf(fake));
        const other = await post(invoiceOf(fake, { price: '10.26' }));

        expect(fake.books.invoices.map(({ content }) => content.lines[0]?.unitPrice)).toEqual(['10.25']);
        const mismatch = family.answers.problem({ kind: 'mismatch', code: 'x', message: 'x', field: 'x' });
        expect(other.status).toBe(mismatch.status);
        expect(fake.books.posts).toHaveLength(3);
        expect(fake.books.mistakes).toEqual([]);
      });
    },
  );

  it('keeps an amount as the token that was written, and takes no text for a number', async () => {
    const family = stripeLike;
    await withFake({ family }, async (fake) => {
      const path = family.requests.createInvoice.path;
      await ask(fake, { family }, { path, key: 'k1', body: invoiceOf(fake, { price: '12345678901234567.123456789' }) });
      const text = await ask(fake, { family }, { path, key: 'k2', body: invoiceOf(fake, { price: '"10.25"' }) });

      expect(fake.books.invoices[0]?.content.lines[0]?.unitPrice).toBe('12345678901234567.123456789');
      expect(text.status).toBe(422);
      expect(fake.books.mistakes).toEqual(['POST /v1/invoices: lines: lines: unit_price: unitPrice must be a number']);
    });
  });

  it('refuses at once and fails later by the tax code', async () => {
    const family = stripeLike;
    await withFake({ family }, async (fake) => {
      const path = family.requests.createInvoice.path;
      const post = async (key: string, taxCode: string) =>
        await ask(fake, { family }, { path, key, body: invoiceOf(fake, { taxCode }) });
      expect((await post('k1', REFUSED_TAX_CODE)).status).toBe(422);
      expect((await post('k2', FAILING_TAX_CODE)).status).toBe(200);

      await until(() => Promise.resolve(fake.books.invoices[0]?.status === 'failed'));
      expect(fake.books.invoices).toHaveLength(1);
    });
  });

  it('loses an answer only after the invoice is created, and gives it to the repeat', async () => {
    const options: FakeOptions = { family: stripeLike, faults: { lostAnswers: 1 } };
    await withFake(options, async (fake) => {
      const post = async () => await ask(fake, options, { path: '/v1/invoices', key: 'k1', body: invoiceOf(fake) });
      await expect(post()).rejects.toThrow('fetch failed');
      const again = (await (await post()).json()) as { id: string };

      expect(fake.books.invoices.map(({ id }) => id)).toEqual([again.id]);
    });
  });

  it('delivers an early event before the answer, repeats it, and tries again until a 2xx', async () => {
    const received: { signature: unknown; body: string }[] = [];
    const receiver = createServer((incoming, response) => {
      void incoming.toArray().then((chunks) => {
        received.push({
          signature: incoming.headers['x-service-signature-256'],
          body: Buffer.concat(chunks as Buffer[]).toString(),
        });
        response.writeHead(received.length === 1 ? 503 : 200).end();
      });
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    const family = githubLike;
    await withFake({ family, faults: { earlyEvents: 1, repeatedEvents: 1 } }, async (fake) => {
      const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
      const secret = fake.registerByHand(url);
      const merchant = Number(fake.books.merchants[0]?.id);
      const body = invoiceOf(fake).replace(/"merchant_id":"\d+"/, `"merchant_id":${merchant}`);
      await ask(fake, { family }, { path: '/v1/invoices', key: 'k1', body });
      expect(received).toHaveLength(2);
      // The fake notes an answer when it has read it, which is after the receiver has counted it.
      await until(() => Promise.resolve(fake.deliveries.statuses.length === 3));

      for (const { signature, body: raw } of received)
        expect(signature).toBe(`sha256=${createHmac('sha256', secret).update(raw).digest('hex')}`);
      expect(fake.deliveries.statuses).toEqual([503, 200, 200]);
    });
    receiver.closeAllConnections();
    await new Promise((resolve) => receiver.close(resolve));
  });

  it('notes a request that the family does not understand', async () => {
    await withFake({ family: githubLike }, async (fake) => {
      await fetch(`${fake.url}/v1/merchants`, { headers: { authorization: `Bearer ${fake.key}` } });
      await ask(fake, { family: githubLike }, { path: '/v1/unknown' });

      expect(fake.books.mistakes).toEqual([
        'GET /v1/merchants: the header X-Api-Version must be 2026-03-01',
        'GET /v1/unknown: no such path',
      ]);
    });
  });
});
