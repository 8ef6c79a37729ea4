import { describe, expect, it } from 'vitest';
import { LoteError } from '../../../../src/domain/errors.ts';
import type { InvoicingService, MerchantListAnswer } from '../../../../src/domain/ports/invoicing-service.ts';
import { authenticatedService } from '../../../../src/wiring/account/authenticated-service.ts';

const LIST: MerchantListAnswer = { kind: 'list', merchants: [] };
const CREATED = { kind: 'created', serviceId: 'inv_1' } as const;

function unreadable(code: string): MerchantListAnswer {
  return { kind: 'unreadable', reason: { code, message: 'No.' } };
}

/** A service whose list of merchants is given, and which says yes to all else; `calls` is what reached it, in order. */
function place(list: MerchantListAnswer, { known = false, refused = false } = {}) {
  const calls: string[] = [];
  const service: InvoicingService = {
    baseUrl: 'https://service.example',
    invoiceBody: () => '{}',
    listMerchants: async () => (calls.push('list'), list),
    createInvoice: async () => (calls.push('invoice'), CREATED),
    getInvoice: async () => (calls.push('get'), { kind: 'status', status: 'issued', reason: null }),
    createMerchant: async () => (calls.push('merchant'), { kind: 'created', merchantId: 'mrc_1' }),
    registerWebhook: async () => (calls.push('webhook'), { kind: 'registered', secret: null }),
    close: async () => undefined,
  };
  const remember = async (): Promise<void> => {
    if (refused) throw new LoteError('interlock', 'Another account is known by now.');
    calls.push('remember');
  };
  return { calls, service: authenticatedService({ service, isKnown: async () => known, remember }) };
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

  it('is remembered with the first answer that needs the key, before that answer is used, once', async () => {
    const { service, calls } = place(LIST);

    await service.listMerchants();
    await service.createInvoice('{}', 'key');
    await service.listMerchants();

    expect(calls).toEqual(['list', 'remember', 'invoice', 'list']);
  });

  it('is asked for its merchants before its first invoice', async () => {
    const { service, calls } = place(LIST);

    expect(await service.createInvoice('{}', 'key')).toBe(CREATED);

    expect(calls).toEqual(['list', 'remember', 'invoice']);
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
