import { describe, expect, it } from 'vitest';
import { exitCodeOf } from '../../../../src/cli/output/exit-codes.ts';
import { preflight } from '../../../../src/cli/session/preflight.ts';
import type { InvoicingService } from '../../../../src/service/client.ts';
import type { MerchantListAnswer } from '../../../../src/domain/records/service-answers.ts';

const LIST: MerchantListAnswer = { kind: 'list', merchants: [] };

function unreadable(code: string): MerchantListAnswer {
  return { kind: 'unreadable', reason: { code, message: 'GET /v1/merchants: connect ECONNREFUSED' } };
}

/** Gives these answers in turn, the last one for ever. */
function serviceOf(...answers: readonly MerchantListAnswer[]) {
  let asked = 0;
  const listMerchants = (): Promise<MerchantListAnswer> => {
    asked += 1;
    return Promise.resolve(answers[Math.min(asked, answers.length) - 1] ?? LIST);
  };
  return { service: { listMerchants } as InvoicingService, asked: () => asked };
}

describe('asking the service before anything is sent', () => {
  it('goes on at once when it gives its merchants', async () => {
    const { service, asked } = serviceOf(LIST);

    await preflight(service, Date.now);

    expect(asked()).toBe(1);
  });

  it.each([
    ['service-unauthorized', 'service-unauthorized'],
    ['service-list-unreadable', 'service-list-unreadable'],
    ['http-403', 'service-list-unreadable'],
  ])('ends at once with exit code 3 when the answer is %s', async (reason, code) => {
    const { service, asked } = serviceOf(unreadable(reason));

    const error = await preflight(service, Date.now).catch((reason: unknown) => reason);

    expect(error).toMatchObject({
      code,
      message:
        'Asking the invoicing service for its merchants, before anything is sent: GET /v1/merchants: connect ECONNREFUSED. Nothing was sent.',
    });
    expect(exitCodeOf(error)).toBe(3);
    expect(asked()).toBe(1);
  });
});

it('a service that cannot be reached gets a minute, by the caller’s clock, in which it may come back', async () => {
  const [away, back] = [
    serviceOf(unreadable('service-unreachable')),
    serviceOf(unreadable('service-unreachable'), LIST),
  ];
  let minutes = -1;
  // The first look is at the start, each later one after an answer.
  const now = (): number => (minutes += 1) * 60_001;

  await expect(preflight(away.service, now)).rejects.toMatchObject({ code: 'service-unreachable' });
  await preflight(back.service, () => 0);

  expect([away.asked(), back.asked()]).toEqual([1, 2]);
});
