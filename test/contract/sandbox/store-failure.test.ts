import { describe, expect, it } from 'vitest';
import type { SandboxOptions } from '../../../src/sandbox/sandbox.ts';
import { memoryStore } from '../../../src/sandbox/store.ts';
import type { Change, SandboxStore } from '../../../src/sandbox/store.ts';
import { call, errorOf, invoiceFor, merchantIn, postInvoice } from '../../unit/sandbox/support/client.ts';
import { owedIn, receiver, register, sandbox } from '../../unit/sandbox/support/fixtures.ts';

interface FragileStore {
  readonly store: SandboxStore;
  /** Writes with such a change fail from now on, as often as said. */
  readonly breakOn: (kind: Change['kind'], times: number) => void;
}

function fragileStore(): FragileStore {
  const inner = memoryStore();
  const broken = new Map<Change['kind'], number>();
  return {
    breakOn: (kind, times) => void broken.set(kind, times),
    store: {
      ...inner,
      async write(changes) {
        for (const { kind } of changes) {
          const times = broken.get(kind) ?? 0;
          if (times === 0) continue;
          broken.set(kind, times - 1);
          throw new Error(`no room for this ${kind}`);
        }
        await inner.write(changes);
      },
    },
  };
}

/** A sandbox on a store that fails on request, with one merchant and one receiver. */
async function onFragileStore(answer?: Parameters<typeof receiver>[0], options: Partial<SandboxOptions> = {}) {
  const { store, breakOn } = fragileStore();
  const box = await sandbox({ store, ...options });
  const { url, received } = await receiver(answer);
  await register(box.url, url);
  return { box, breakOn, received, merchantId: await merchantIn(box.url, '5417000001') };
}

describe('a store that fails', () => {
  it('leaves no invoice behind a 500, and the key is free for the next try', async () => {
    const { box, breakOn, merchantId } = await onFragileStore();
    const body = invoiceFor(merchantId);
    breakOn('invoice', 1);

    const first = await postInvoice(box.url, body, 'k');
    const second = await postInvoice(box.url, body, 'k');

    expect([first.status, second.status]).toEqual([500, 201]);
    expect(errorOf(first)['code']).toBe('internal_error');
    expect(box.books().totals.invoices).toBe(1);
  });

  it('is asked again to settle, and the event goes out once it could', async () => {
    const { box, breakOn, merchantId, received } = await onFragileStore();
    breakOn('settlement', 1);

    await postInvoice(box.url, invoiceFor(merchantId));

    await expect.poll(() => box.books().totals.issued).toBe(1);
    await expect.poll(() => received.length).toBe(1);
  });

  it('rather sends a delivery twice than not at all', async () => {
    const { box, breakOn, merchantId, received } = await onFragileStore();
    breakOn('delivery-done', 1);

    await postInvoice(box.url, invoiceFor(merchantId));

    await expect.poll(() => box.books().totals.issued).toBe(1);
    await expect.poll(() => box.books().totals.deliveriesPending).toBe(0);
    expect(received).toHaveLength(2);
    expect(received[0]?.body).toBe(received[1]?.body);
  });
});

it('the log says what failed and holds no name, number or key', async () => {
  const lines: { readonly message: string; readonly fields: unknown }[] = [];
  const write = (message: string, fields?: unknown): void => void lines.push({ message, fields });
  const log = { info: write, warn: write, error: write };
  const { box, breakOn, merchantId } = await onFragileStore(() => ({ status: 500 }), { log });
  breakOn('settlement', 1);
  breakOn('invoice', 1);
  const body = invoiceFor(merchantId, { customer: 'Maria Secreta' });

  await postInvoice(box.url, body, 'key-of-the-client');
  await postInvoice(box.url, body, 'key-of-the-client');

  await expect.poll(() => box.books().totals.deliveriesGivenUp).toBe(1);
  expect(new Set(lines.map(({ message }) => message))).toEqual(
    new Set([
      'The sandbox is up.',
      'A request could not be answered.',
      'An invoice could not be settled yet.',
      'A webhook delivery is given up.',
    ]),
  );
  const text = JSON.stringify(lines);
  for (const secret of ['Maria', '5417000001', '123456789', 'key-of-the-client', 'sk_test_', 'whsec_']) {
    expect(text).not.toContain(secret);
  }
  expect(text).toContain('no room for this invoice');
});

describe('closing', () => {
  it('lets the request that is being answered end', async () => {
    const box = await sandbox({ latencyMs: 100 });
    const listing = call(box.url, 'GET', '/v1/merchants');
    const health = await call(box.url, 'GET', '/_sandbox/health');
    expect(health.status).toBe(200);

    await box.close();

    expect((await listing).status).toBe(200);
    await expect(call(box.url, 'GET', '/v1/merchants')).rejects.toThrow('fetch failed');
  });

  it('leaves a delivery that was on the wire owed', async () => {
    const store = memoryStore();
    const box = await sandbox({ store });
    const hanging = await receiver(() => new Promise(() => {}));
    await register(box.url, hanging.url);
    await postInvoice(box.url, invoiceFor(await merchantIn(box.url)));
    await expect.poll(() => hanging.received.length).toBe(1);

    await box.close();

    expect(await owedIn(store)).toHaveLength(1);
  });
});
