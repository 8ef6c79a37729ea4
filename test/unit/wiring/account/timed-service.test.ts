import { describe, expect, it } from 'vitest';
import type {
  CreateAnswer,
  DeparturePermit,
  InvoicingService,
  MerchantListAnswer,
} from '../../../../src/domain/ports/invoicing-service.ts';
import { createServiceClock } from '../../../../src/domain/time/service-clock.ts';
import { timedService } from '../../../../src/wiring/account/timed-service.ts';

const NOON = Date.UTC(2026, 4, 1, 12);
const EARLIER = { firstUsedAt: NOON - 60_000 };
const LATER = { firstUsedAt: NOON + 60_000 };

const LIST: MerchantListAnswer = { kind: 'list', merchants: [] };
const REFUSED: MerchantListAnswer = {
  kind: 'unreadable',
  reason: { code: 'service-list-unreadable', message: 'It answered with 403.' },
};
const NO_ANSWER: MerchantListAnswer = {
  kind: 'unreadable',
  reason: { code: 'service-unreachable', message: 'Connection refused.' },
};

const CANCELLED: CreateAnswer = {
  kind: 'not-now',
  reason: { code: 'cancelled', message: 'It was given up.' },
  retryAfterMs: null,
};

/** What a question for the merchants brings: the time in the head of its first answer, `silent` without one; and its end, null: it goes on for ever. */
interface Asked {
  readonly head: number | null | 'silent';
  readonly end: MerchantListAnswer | null;
}

/** A service whose list of merchants is given; `calls` is what reached it, in order. */
function place({ head, end }: Asked) {
  const calls: string[] = [];
  const questions: AbortSignal[] = [];
  const clock = createServiceClock({ latest: () => NOON });
  const answered = <T>(call: string, answer: T, at: number | null = null): Promise<T> => {
    calls.push(call);
    clock.heard(at);
    return Promise.resolve(answer);
  };
  const service: InvoicingService = {
    baseUrl: 'https://service.example',
    invoiceBody: () => '{}',
    async listMerchants(signal) {
      calls.push('list');
      if (signal !== undefined) questions.push(signal);
      await Promise.resolve();
      if (head !== 'silent') clock.heard(head);
      return end ?? new Promise<never>(() => undefined);
    },
    createInvoice(_body, _key, limits) {
      if (limits?.permit?.withdrawn.aborted === true) return Promise.resolve({ kind: 'not-permitted' });
      if (limits?.signal?.aborted === true) return Promise.resolve(CANCELLED);
      return answered('invoice', { kind: 'created', serviceId: 'inv_1' });
    },
    getInvoice: () => answered('get', { kind: 'status', status: 'issued', reason: null }),
    createMerchant: () => answered('merchant', { kind: 'created', merchantId: 'mrc_1' }),
    registerWebhook: () => answered('webhook', { kind: 'registered', secret: null }),
    close: () => Promise.resolve(),
  };
  return { calls, questions, clock, service: timedService(service, clock) };
}

describe('an answer of the service', () => {
  it('is asked for once before keys of an earlier process are repeated, however many go at once', async () => {
    const { service, calls } = place({ head: NOON, end: LIST });
    await Promise.all([service.createInvoice('{}', 'a', EARLIER), service.createInvoice('{}', 'b', EARLIER)]);
    await service.createInvoice('{}', 'c', EARLIER);
    expect(calls).toEqual(['list', 'invoice', 'invoice', 'invoice']);
  });

  it('is not asked for where one has come', async () => {
    const { service, calls } = place({ head: NOON, end: LIST });
    await service.getInvoice('inv_1');
    await service.createInvoice('{}', 'a', EARLIER);
    expect(calls).toEqual(['get', 'invoice']);
  });

  it.each([{ firstUsedAt: null }, {}, undefined, LATER])(
    'is not asked for before a first POST, or a repeat of this process (%j)',
    async (limits) => {
      const { service, calls } = place({ head: 'silent', end: NO_ANSWER });
      expect(await service.createInvoice('{}', 'a', limits)).toMatchObject({ kind: 'created' });
      expect(calls).toEqual(['invoice']);
    },
  );

  it('need not name a time, and may refuse the list: the invoice goes as it would without the question', async () => {
    const { service, calls } = place({ head: null, end: REFUSED });
    expect(await service.createInvoice('{}', 'a', EARLIER)).toMatchObject({ kind: 'created' });
    await service.createInvoice('{}', 'b', EARLIER);
    expect(calls).toEqual(['list', 'invoice', 'invoice']);
  });

  it('is enough with the first page of a list that never ends', async () => {
    const { service, questions } = place({ head: NOON, end: null });
    expect(await service.createInvoice('{}', 'a', EARLIER)).toMatchObject({ kind: 'created' });
    expect(questions.map(({ aborted }) => aborted)).toEqual([true]);
  });

  it('is waited for: without one the repeat is not sent, says why, and asks again', async () => {
    const { service, calls } = place({ head: 'silent', end: NO_ANSWER });
    const answer = { kind: 'not-now', reason: { code: 'service-unreachable' } };
    expect(await service.createInvoice('{}', 'a', EARLIER)).toMatchObject(answer);
    expect(await service.createInvoice('{}', 'a', EARLIER)).toMatchObject(answer);
    expect(calls).toEqual(['list', 'list']);
  });

  it('is waited for no longer than the permission of the POST lasts', async () => {
    const { service, calls } = place({ head: 'silent', end: null });
    const batch = new AbortController();
    const { signal } = new AbortController();
    const posts = ['a', 'b'].map((key) =>
      service.createInvoice('{}', key, { ...EARLIER, signal, permit: permitUntil(batch.signal) }),
    );
    await new Promise(setImmediate);
    batch.abort();
    expect(await Promise.all(posts)).toEqual([{ kind: 'not-permitted' }, { kind: 'not-permitted' }]);
    const late = service.createInvoice('{}', 'c', { ...EARLIER, permit: permitUntil(batch.signal) });
    expect(await late).toEqual({ kind: 'not-permitted' });
    expect(calls).toEqual(['list']);
  });

  it('is waited for no longer than the key may be repeated, which concerns no other key', async () => {
    const { service, calls, clock } = place({ head: 'silent', end: null });
    const window = new AbortController();
    const ended = service.createInvoice('{}', 'a', { ...EARLIER, signal: window.signal });
    const other = service.createInvoice('{}', 'b', EARLIER);
    await new Promise(setImmediate);
    window.abort();
    expect(await ended).toEqual(CANCELLED);
    clock.heard(NOON);
    expect(await other).toMatchObject({ kind: 'created' });
    expect(calls).toEqual(['list', 'invoice']);
  });
});

function permitUntil(withdrawn: AbortSignal): DeparturePermit {
  const isValid = () => !withdrawn.aborted;
  return { withdrawn, isValid, confirm: () => Promise.resolve(isValid()) };
}
