import { expect, it } from 'vitest';
import { exitCodeOf } from '../../../../src/cli/output/exit-codes.ts';
import { preflight } from '../../../../src/cli/session/preflight.ts';
import type { InvoicingService } from '../../../../src/service/client.ts';
import type { MerchantListAnswer } from '../../../../src/domain/records/service-answers.ts';

const LIST: MerchantListAnswer = { kind: 'list', merchants: [] };
const SAID =
  'Asking the invoicing service for its merchants, before anything is sent: connect ECONNREFUSED. Nothing was sent.';

function unreadable(code: string): MerchantListAnswer {
  return { kind: 'unreadable', reason: { code, message: 'connect ECONNREFUSED' } };
}

/** Asks a service that gives these answers in turn, the last one for ever; returns the error, and how often it was asked. */
async function preflightAt(answers: readonly MerchantListAnswer[], now: () => number = Date.now) {
  let asked = 0;
  const listMerchants = async (): Promise<MerchantListAnswer> => {
    asked += 1;
    return answers[Math.min(asked, answers.length) - 1] ?? LIST;
  };
  const error = await preflight({ listMerchants } as InvoicingService, now).catch((reason: unknown) => reason);
  return { asked, error };
}

it('a service that gives its merchants is asked once', async () => {
  expect(await preflightAt([LIST])).toEqual({ asked: 1, error: undefined });
});

it.each([
  ['service-unauthorized', 'service-unauthorized'],
  ['service-list-unreadable', 'service-list-unreadable'],
  ['http-403', 'service-list-unreadable'],
])('a command ends at once with exit code 3 when the answer is %s', async (reason, code) => {
  const { asked, error } = await preflightAt([unreadable(reason)]);

  expect(error).toMatchObject({ code, message: SAID });
  expect(exitCodeOf(error)).toBe(3);
  expect(asked).toBe(1);
});

it('a service that cannot be reached gets a minute, by the caller’s clock, in which it may come back', async () => {
  let minutes = -1;
  // The first look is at the start, each later one after an answer.
  const late = (): number => (minutes += 1) * 60_001;

  const away = await preflightAt([unreadable('service-unreachable')], late);
  expect(away).toMatchObject({ asked: 1, error: { code: 'service-unreachable' } });
  const back = await preflightAt([unreadable('service-unreachable'), LIST], () => 0);
  expect(back).toEqual({ asked: 2, error: undefined });
});
