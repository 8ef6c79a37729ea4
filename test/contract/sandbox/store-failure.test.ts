import { describe, expect, it } from 'vitest';
import { startSandbox } from '../../../src/sandbox/sandbox.ts';
import { memoryStore } from '../../../src/sandbox/store/memory-store.ts';
import type { Change, SandboxStore } from '../../../src/sandbox/store/sandbox-store.ts';
import { call, errorOf, invoiceFor, merchantIn } from '../../unit/sandbox/support/client.ts';
import { receiver, register, sandbox } from '../../unit/sandbox/support/fixtures.ts';

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

interface LogLine {
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>> | undefined;
}

function recordingLog(): {
  readonly lines: LogLine[];
  readonly log: NonNullable<Parameters<typeof startSandbox>[0]['log']>;
} {
  const lines: LogLine[] = [];
  function write(message: string, fields?: Readonly<Record<string, unknown>>): void {
    lines.push({ message, fields });
  }
  return { lines, log: { info: write, warn: write, error: write } };
}

describe('a store that fails', () => {
  it('leaves no invoice behind a 500, and the key is free for the next try', async () => {
    const { store, breakOn } = fragileStore();
    const box = await sandbox({ store });
    const body = invoiceFor(await merchantIn(box.url));
    breakOn('invoice', 1);

    const first = await call(box.url, 'POST', '/v1/invoices', { body, key: 'k' });
    const second = await call(box.url, 'POST', '/v1/invoices', { body, key: 'k' });

    expect([first.status, second.status]).toEqual([500, 201]);
    expect(errorOf(first)['code']).toBe('internal_error');
    expect(box.books().totals.invoices).toBe(1);
  });

  it('does not keep the NIF of a merchant that was not written', async () => {
    const { store, breakOn } = fragileStore();
    const box = await sandbox({ store });
    const body = { legal_name: 'M', nif: '1', email: 'a@b.test' };
    breakOn('merchant', 1);

    const first = await call(box.url, 'POST', '/v1/merchants', { body });
    const second = await call(box.url, 'POST', '/v1/merchants', { body });

    expect([first.status, second.status]).toEqual([500, 201]);
  });

  it('does not keep a webhook that was not written', async () => {
    const { store, breakOn } = fragileStore();
    const box = await sandbox({ store });
    const body = { url: 'https://example.test/', events: ['invoice.issued'] };
    breakOn('webhook', 1);

    const first = await call(box.url, 'POST', '/v1/webhooks', { body });
    expect(box.books().totals.webhooks).toBe(0);
    const second = await call(box.url, 'POST', '/v1/webhooks', { body });

    expect([first.status, second.status]).toEqual([500, 201]);
  });

  it('is asked again to settle, and the event goes out once it could', async () => {
    const { store, breakOn } = fragileStore();
    const box = await sandbox({ store });
    const hooks = await receiver();
    await register(box.url, hooks.url);
    const merchantId = await merchantIn(box.url);
    breakOn('settlement', 1);

    await call(box.url, 'POST', '/v1/invoices', { body: invoiceFor(merchantId) });

    await expect.poll(() => box.books().totals.issued).toBe(1);
    await expect.poll(() => hooks.received.length).toBe(1);
  });

  it('rather sends a delivery twice than not at all', async () => {
    const { store, breakOn } = fragileStore();
    const box = await sandbox({ store });
    const hooks = await receiver();
    await register(box.url, hooks.url);
    const merchantId = await merchantIn(box.url);
    breakOn('delivery-done', 1);

    await call(box.url, 'POST', '/v1/invoices', { body: invoiceFor(merchantId) });

    await expect.poll(() => box.books().totals.issued).toBe(1);
    await expect.poll(() => box.books().totals.deliveriesPending).toBe(0);
    expect(hooks.received).toHaveLength(2);
    expect(hooks.received[0]?.body).toBe(hooks.received[1]?.body);
  });

  it('is closed again when the port is taken', async () => {
    const { port } = await sandbox();
    let closed = 0;
    const store = { ...memoryStore(), close: async () => void (closed += 1) };

    await expect(startSandbox({ port, store })).rejects.toThrow('must be free');

    expect(closed).toBe(1);
  });
});

describe('the log', () => {
  it('says what failed and holds no name, number or key', async () => {
    const { store, breakOn } = fragileStore();
    const { lines, log } = recordingLog();
    const box = await sandbox({ store, log });
    const hooks = await receiver(() => ({ status: 500 }));
    await register(box.url, hooks.url);
    const merchantId = await merchantIn(box.url, '5417000001');
    breakOn('settlement', 1);
    breakOn('invoice', 1);
    const body = invoiceFor(merchantId, { customer: 'Maria Secreta' });

    await call(box.url, 'POST', '/v1/invoices', { body, key: 'key-of-the-client' });
    await call(box.url, 'POST', '/v1/invoices', { body, key: 'key-of-the-client' });

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
    await call(box.url, 'POST', '/v1/invoices', { body: invoiceFor(await merchantIn(box.url)) });
    await expect.poll(() => hanging.received.length).toBe(1);

    await box.close();

    expect((await store.open()).deliveries).toHaveLength(1);
  });
});
