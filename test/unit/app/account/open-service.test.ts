import { describe, expect, it } from 'vitest';
import { LoteError } from '../../../../src/domain/errors.ts';
import { authenticatedService, createServiceTime, type ServiceTime } from '../../../../src/app/account/open-service.ts';
import type { InvoicingService } from '../../../../src/service/client.ts';
import type { MerchantListAnswer } from '../../../../src/domain/records/service-answers.ts';

const LIST: MerchantListAnswer = { kind: 'list', merchants: [] };
const CREATED = { kind: 'created', serviceId: 'inv_1' } as const;

function unreadable(code: string): MerchantListAnswer {
  return { kind: 'unreadable', reason: { code, message: 'No.' } };
}

/** A service whose list of merchants is given, and which says yes to all else; `calls` is what reached it, in order. */
function place(
  list: MerchantListAnswer,
  { known = false, refused = false, time = null as Pick<ServiceTime, 'isHeard'> | null } = {},
) {
  const calls: string[] = [];
  const service: InvoicingService = {
    baseUrl: 'https://service.example',
    invoiceBody: () => '{}',
    listMerchants: async () => (calls.push('list'), list),
    createInvoice: async () => (calls.push('invoice'), CREATED),
    getInvoice: async () => (calls.push('get'), { kind: 'status', status: 'issued', reason: null }),
    createMerchant: async () => (calls.push('merchant'), { kind: 'created', merchantId: 'mrc_1' }),
    registerWebhook: async () => (calls.push('webhook'), { kind: 'registered', secret: null }),
    dropConnections: () => undefined,
    close: async () => undefined,
  };
  const remember = async (): Promise<void> => {
    if (refused) throw new LoteError('interlock', 'Another account is known by now.');
    calls.push('remember');
  };
  return { calls, service: authenticatedService({ service, time, isKnown: async () => known, remember }) };
}

describe('an account that never answered', () => {
  it.each(['service-unreachable', 'service-unauthorized', 'service-list-unreadable'])(
    'is not remembered, and gets no invoice: %s',
    async (code) => {
      const { service, calls } = place(unreadable(code));

      await service.listMerchants();
      await service.registerWebhook('https://me.example');
      const answer = await service.createInvoice('{}', 'key');

      expect(answer).toMatchObject(
        code === 'service-unauthorized' ? { kind: 'access-denied', mayExist: false } : { kind: 'not-now' },
      );
      expect(calls).toEqual(['list', 'webhook', 'list']);
    },
  );

  it('is asked for its merchants before its first invoice, and remembered with that answer, before it is used, once', async () => {
    const [listed, posted] = [place(LIST), place(LIST)];

    await listed.service.listMerchants();
    for (const { service } of [listed, posted]) {
      expect(await service.createInvoice('{}', 'key')).toBe(CREATED);
      await service.listMerchants();
    }

    for (const { calls } of [listed, posted]) expect(calls).toEqual(['list', 'remember', 'invoice', 'list']);
  });

  it('gets nothing when another account was quicker', async () => {
    const { service, calls } = place(LIST, { refused: true });

    await expect(service.createInvoice('{}', 'key')).rejects.toMatchObject({ code: 'interlock' });

    expect(calls).toEqual(['list']);
  });
});

describe('an account that the ledger knows', () => {
  it('is not asked anything first', async () => {
    const { service, calls } = place(unreadable('service-unreachable'), { known: true });

    expect(await service.createInvoice('{}', 'key')).toBe(CREATED);

    expect(calls).toEqual(['invoice']);
  });
});

describe('a key that was used before', () => {
  const EARLIER = { firstUsedAt: 1 };

  it('is repeated only when an answer has told the time; one question serves all who ask', async () => {
    const unheard = place(unreadable('service-unreachable'), { known: true, time: { isHeard: () => false } });
    const posts = [1, 2].map(() => unheard.service.createInvoice('{}', 'key', EARLIER));

    expect((await Promise.all(posts)).map(({ kind }) => kind)).toEqual(['not-now', 'not-now']);
    expect(unheard.calls).toEqual(['list']);

    const heard = place(LIST, { known: true, time: { isHeard: () => true } });
    expect(await heard.service.createInvoice('{}', 'key', EARLIER)).toEqual(CREATED);
    expect(heard.calls).toEqual(['invoice']);
  });

  it.each([{ firstUsedAt: null }, {}, undefined])('is no question for a first POST: %j', async (limits) => {
    const { service, calls } = place(LIST, { known: true, time: { isHeard: () => false } });
    await service.createInvoice('{}', 'key', limits);
    expect(calls).toEqual(['invoice']);
  });
});

describe('the time by which keys are judged', () => {
  it("is the later one of this machine's and the service's, and a clock that is behind is reported once", () => {
    const reported: number[] = [];
    const time = createServiceTime(
      (aheadMs) => reported.push(aheadMs),
      () => 1_000_000,
    );

    expect([time.isHeard(), time.latestNow()]).toEqual([false, 1_000_000]);
    time.heard(900_000);
    expect([time.isHeard(), time.latestNow()]).toEqual([true, 1_000_000]);
    time.heard(1_060_000);
    time.heard(null);
    time.heard(1_061_000);
    expect(time.latestNow()).toBeGreaterThanOrEqual(1_061_000);
    expect(reported).toEqual([60_000]);
  });
});
