import { describe, expect, it } from 'vitest';
import type { InvoicingService } from '../../../../src/service/client.ts';
import type { StatusAnswer } from '../../../../src/domain/records/service-answers.ts';
import { confirmFailure } from '../../../../src/app/receiver/start-receiver.ts';
import type { SettledInvoice } from '../../../../src/ledger/settling/settling.ts';
import type { StatusUpdate } from '../../../../src/ledger/settling/settling.ts';

const REASON = { code: 'tax-code', message: 'unknown tax code' };
const SETTLED: SettledInvoice = { batchId: 'b', page: 1, ordinal: 3 };

type Said = Extract<StatusAnswer, { kind: 'status' }>;
const says = (status: Said['status'], reason: Said['reason'] = null, over: { readonly doubtful?: true } = {}) =>
  ({ kind: 'status', status, reason, ...over }) as Said;

/** What is written down, told and logged when the service gives this answer about a reported failure. */
async function confirm(
  answer: StatusAnswer | Error,
  record: readonly SettledInvoice[] | Error = [SETTLED],
  { isStopped = false, isProved = true } = {},
) {
  const news: StatusUpdate[] = [];
  const notified: SettledInvoice[] = [];
  const warned: string[] = [];
  const service: Partial<InvoicingService> = {
    getInvoice: () => (answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer)),
  };
  await confirmFailure(
    {
      ledger: {
        recordStatus(items) {
          news.push(...items);
          return record instanceof Error ? Promise.reject(record) : Promise.resolve(record);
        },
      },
      service: service as InvoicingService,
      calibration: {
        asked: async ({ answer: said }) => said,
        isStopped: async () => isStopped,
        areFailuresProved: async () => isProved,
      },
      onSettled: (settled) => void notified.push(...settled),
      log: { warn: (message) => void warned.push(message) },
      now: () => 42,
    },
    { invoiceId: 7, serviceId: 'inv_7', failedEvent: { reason: null } },
  );
  return { news, notified, warned };
}

describe('a signed failure that is asked for', () => {
  it.each<readonly [string, StatusAnswer, StatusUpdate['status'], object | null]>([
    ['the service repeats it', says('failed', REASON), 'failed', REASON],
    ['the service shows no status that can be read', says('unreadable'), 'failed', null],
    // This must not hide the reason of the event.
    ['the service says no more than why', says('unreadable', { code: 'http-404', message: 'No' }), 'failed', null],
    ['it may speak of another', says('unreadable', REASON, { doubtful: true }), 'processing', REASON],
    ['the service says issued', says('issued'), 'issued', null],
    ['the service is still at it', says('processing'), 'processing', null],
  ])('when %s', async (_, answer, status, reason) => {
    const { news, notified: settled, warned } = await confirm(answer);

    // Nobody has confirmed it: it is not sent again unattended.
    const unconfirmed = answer.kind === 'status' && answer.status === 'unreadable' && status === 'failed';
    const notified = { invoiceId: 7, serviceId: 'inv_7', status, reason, now: 42 };
    expect(news).toEqual([unconfirmed ? { ...notified, unconfirmed } : notified]);
    expect(settled).toEqual([SETTLED]);
    expect(warned).toEqual([]);
  });

  it('stands without a status only after a GET has confirmed another one', async () => {
    expect((await confirm(says('unreadable'), [SETTLED], { isProved: false })).news).toMatchObject([
      { status: 'processing' },
    ]);
  });

  it('is left to the page when nobody answers now', async () => {
    const nothing = { news: [], notified: [], warned: [] };
    expect(await confirm({ kind: 'not-now', reason: REASON, retryAfterMs: null })).toEqual(nothing);
    expect(await confirm(says('failed'), [SETTLED], { isStopped: true }), 'while nothing counts').toEqual(nothing);
  });

  it.each([
    ['the service', new Error('socket hang up'), [SETTLED]],
    ['the ledger', says('failed'), new Error('ledger away')],
  ] as const)('does not bring the receiver down when %s fails', async (_, answer, record) => {
    const { notified, warned } = await confirm(answer, record);

    expect(notified).toEqual([]);
    expect(warned).toEqual(['a reported failure could not be confirmed now; its page will ask again']);
  });
});
