import { describe, expect, it } from 'vitest';
import { LoteError } from '../../../../src/domain/errors.ts';
import { authenticatedService, createServiceTime } from '../../../../src/app/account/open-service.ts';
import type { InvoicingService } from '../../../../src/service/client.ts';
import type { MerchantListAnswer } from '../../../../src/domain/records/service-answers.ts';

const LIST: MerchantListAnswer = { kind: 'list', merchants: [] };
const CREATED = { kind: 'created', serviceId: 'inv_1' } as const;

function unreadable(code: string): MerchantListAnswer {
  return { kind: 'unreadable', reason: { code, message: 'No.' } };
}

/** A service whose list of merchants is given, and which says yes to all else; `calls` is what reached it, in order. */
function place(list: MerchantListAnswer, { refused = false } = {}) {
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
  return { calls, service: authenticatedService(service, remember) };
}

describe('a service', () => {
  it.each(['service-unreachable', 'service-unauthorized', 'service-list-unreadable'])(
    'whose list cannot be read is not remembered, and gets no invoice: %s',
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

  it('is asked once for its merchants before the first invoice of a process, and remembered with that answer', async () => {
    const [listed, posted] = [place(LIST), place(LIST)];

    await listed.service.listMerchants();
    for (const { service } of [listed, posted]) {
      const posts = [service.createInvoice('{}', 'one'), service.createInvoice('{}', 'two')];
      expect(await Promise.all(posts)).toEqual([CREATED, CREATED]);
      await service.listMerchants();
    }

    for (const { calls } of [listed, posted]) expect(calls).toEqual(['list', 'remember', 'invoice', 'invoice', 'list']);
  });

  it('gets nothing when another account was quicker', async () => {
    const { service, calls } = place(LIST, { refused: true });

    await expect(service.createInvoice('{}', 'key')).rejects.toMatchObject({ code: 'interlock' });

    expect(calls).toEqual(['list']);
  });
});

describe('the time by which keys are judged', () => {
  it("is the later one of this machine's and the service's, and a clock that is behind is reported once", () => {
    const reported: number[] = [];
    const time = createServiceTime(
      (aheadMs) => reported.push(aheadMs),
      () => 1_000_000,
    );

    for (const [heard, latest] of [
      [900_000, 1_000_000],
      [1_060_000, 1_060_000],
      [null, 1_060_000],
      [1_061_000, 1_061_000],
    ] as const) {
      time.heard(heard);
      expect(time.latestNow()).toBe(latest);
    }
    expect(reported).toEqual([60_000]);
  });
});
