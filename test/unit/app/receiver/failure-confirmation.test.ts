import { describe, expect, it } from 'vitest';
import type { InvoicingService } from '../../../../src/service/client.ts';
import type { StatusAnswer } from '../../../../src/domain/records/service-answers.ts';
import { confirmFailure } from '../../../../src/app/receiver/start-receiver.ts';
import type { SettledInvoice } from '../../../../src/ledger/settling/settled.ts';
import type { StatusUpdate } from '../../../../src/ledger/settling/settling.ts';

const REASON = { code: 'tax-code', message: 'unknown tax code' };
const SETTLED: SettledInvoice = { batchId: 'b', workflowId: 'w', page: 1, ordinal: 3, state: 'failed' };

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
    ['the service repeats it', { kind: 'status', status: 'failed', reason: REASON }, 'failed', REASON],
    [
      'the service shows no status that can be read',
      { kind: 'status', status: 'unreadable', reason: null },
      'failed',
      null,
    ],
    [
      'the service says no more than why it has none, which must not hide the reason of the event',
      { kind: 'status', status: 'unreadable', reason: { code: 'http-404', message: 'Not found' } },
      'failed',
      null,
    ],
    [
      'it is not sure whom the service speaks of',
      { kind: 'status', status: 'unreadable', reason: REASON, doubtful: true },
      'processing',
      REASON,
    ],
    ['the service says issued', { kind: 'status', status: 'issued', reason: null }, 'issued', null],
    ['the service is still at it', { kind: 'status', status: 'processing', reason: null }, 'processing', null],
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
    const answer: StatusAnswer = { kind: 'status', status: 'unreadable', reason: null };

    expect((await confirm(answer, [SETTLED], { isProved: false })).news).toMatchObject([{ status: 'processing' }]);
  });

  it('is left to the page when nobody answers now', async () => {
    expect(await confirm({ kind: 'not-now', reason: REASON, retryAfterMs: null })).toEqual({
      ...{ news: [], notified: [], warned: [] },
    });
  });

  it('is not asked for while nothing counts', async () => {
    const answer: StatusAnswer = { kind: 'status', status: 'failed', reason: null };

    expect(await confirm(answer, [SETTLED], { isStopped: true })).toEqual({ news: [], notified: [], warned: [] });
  });

  it.each([
    ['the service', new Error('socket hang up'), [SETTLED]],
    ['the ledger', { kind: 'status', status: 'failed', reason: null }, new Error('ledger away')],
  ] as const)('does not bring the receiver down when %s fails', async (_, answer, record) => {
    const { notified, warned } = await confirm(answer, record);

    expect(notified).toEqual([]);
    expect(warned).toEqual(['a reported failure could not be confirmed now; its page will ask again']);
  });
});
