import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { classify } from '../../src/service/classify.ts';
import { readStatus } from '../../src/service/client.ts';
import { compileExpressions } from '../../src/service/profile/expression.ts';
import type { ServiceProfile } from '../../src/service/profile/profile.ts';
import {
  answered,
  anyAnswer,
  evaluated,
  isSuccess,
  statusOf,
  Tally,
  type Filling,
  holdsId,
  isNothing,
  isWordOf,
  standsAt,
  type Came,
} from '../support/any-service/any-answer.ts';
import { PROFILES } from '../support/any-service/profiles.ts';

/** Statuses of RFC 9110 and its companions that say that a request will not be carried out as it stands. */
const NO_FOR_GOOD = [
  400, 402, 404, 405, 406, 410, 411, 412, 413, 414, 415, 416, 417, 418, 422, 424, 426, 428, 431, 451,
];

function fillingsOf({ invoice, error, answers, idempotency }: ServiceProfile): readonly Filling[] {
  const id = `${invoice.idPrefix}A1`;
  const codes = [...answers.rules.flatMap(({ code = [] }) => code), ...idempotency.mismatchCodes, 'E101 no_such_tax'];
  return [
    { place: error.code, right: codes },
    { place: error.message, right: ['E101 no such tax', { nif: ['is wrong'] }] },
    { place: answers.status, right: [200, 400, 422, 409, '429', 500] },
    ...answers.rules.flatMap(({ has = null, id: existing = null }) => [
      { place: has, right: ['1'] },
      { place: existing, right: [id, `/v1/invoices/${id}`] },
    ]),
    { place: invoice.status, right: [invoice.issued[0], invoice.failed[0], invoice.issued.at(-1), 'processing'] },
    { place: invoice.id, right: [id, id, `https://service.example/v1/invoices/${id}`, `${id}0`] },
    { place: answers.success?.at ?? null, right: [answers.success?.is[0], answers.success?.is[0], 'no'] },
  ];
}

const CASES = PROFILES.map(({ name, profile }) => {
  const { invoice, error, answers } = profile;
  const evaluate = compileExpressions([
    ...[invoice.id, invoice.status, invoice.reasonCode, invoice.reasonMessage, error.code, error.message],
    ...[answers.status, answers.success?.at ?? null],
    ...answers.rules.flatMap(({ has = null, id = null }) => [has, id]),
  ]);
  return { name, profile, evaluate, fillings: fillingsOf(profile) };
});

async function ruleOf(came: Came, profile: ServiceProfile) {
  const counted = await statusOf(came, profile);
  for (const rule of profile.answers.rules) {
    if (rule.status?.includes(counted) === false) continue;
    if (rule.code !== undefined && !isWordOf(await standsAt(came, profile.error.code), rule.code)) continue;
    if (rule.has !== undefined && isNothing(await standsAt(came, rule.has))) continue;
    return rule;
  }
  return null;
}

/** Whether a text or a number stands somewhere in a value; without recursion, for it may be nested without end. */
function holdsText(value: unknown): boolean {
  const open: unknown[] = [value];
  while (open.length > 0) {
    const one = open.pop();
    if (typeof one === 'number' || (typeof one === 'string' && one.trim() !== '')) return true;
    if (typeof one === 'object' && one !== null) open.push(...Object.values(one));
  }
  return false;
}

describe('1,000 answers of any service, through every profile', () => {
  it('create an invoice, or refuse it, only by the proof that the profile names', async () => {
    const tally = new Tally();
    await fc.assert(
      fc.asyncProperty(anyAnswer(6), async (any) => {
        for (const { name, profile, evaluate, fillings } of CASES) {
          const { end, came } = answered(any, fillings);
          const answer = classify(await evaluated(end, evaluate), profile, 'invoice');
          tally.count(answer.kind);
          if (answer.kind === 'created') expect(await isProofOfId(answer.serviceId, came, profile), name).toBe(true);
          if (answer.kind === 'refused') expect(await isProofOfNo(came, profile), name).toBe(true);
          if (answer.kind === 'key-mismatch') expect(await isProofOfMismatch(came, profile), name).toBe(true);
        }
      }),
      { numRuns: 1_000 },
    );
    for (const kind of ['created', 'refused', 'key-mismatch', 'lost', 'not-now', 'access-denied'])
      expect(tally.times(kind), kind).toBeGreaterThan(10);
  });

  it('say the end of an invoice only of the one that was asked for, by the words of the profile', async () => {
    const tally = new Tally();
    await fc.assert(
      fc.asyncProperty(anyAnswer(6), async (any) => {
        for (const { name, profile, evaluate, fillings } of CASES) {
          const { end, came } = answered(any, fillings);
          const serviceId = `${profile.invoice.idPrefix}A1`;
          const answer = readStatus(await evaluated(end, evaluate), serviceId, profile);
          const said = answer.kind === 'status' ? answer.status : answer.kind;
          tally.count(said);
          if (said !== 'issued' && said !== 'failed') continue;
          expect(await isProofOfEnd({ serviceId, said }, came, profile), name).toBe(true);
        }
      }),
      { numRuns: 1_000 },
    );
    for (const kind of ['issued', 'failed', 'processing', 'unreadable', 'not-now'])
      expect(tally.times(kind), kind).toBeGreaterThan(10);
  });
});

async function isProofOfId(id: string, came: Came, profile: ServiceProfile): Promise<boolean> {
  const { invoice } = profile;
  const rule = await ruleOf(came, profile);
  if (rule?.means === 'exists') return holdsId(await standsAt(came, rule.id ?? invoice.id), id, invoice.idPrefix);
  return (
    rule === null && (await isSuccess(came, profile)) && holdsId(await standsAt(came, invoice.id), id, invoice.idPrefix)
  );
}

async function isProofOfNo(came: Came, profile: ServiceProfile): Promise<boolean> {
  const rule = await ruleOf(came, profile);
  const counted = await statusOf(came, profile);
  if (rule !== null) return rule.means === 'refused' && counted < 500;
  const { code, message } = profile.error;
  const said = [await standsAt(came, code), await standsAt(came, message)].some(holdsText);
  return NO_FOR_GOOD.includes(counted) && said && !(await isSuccess(came, profile));
}

async function isProofOfMismatch(came: Came, profile: ServiceProfile): Promise<boolean> {
  const rule = await ruleOf(came, profile);
  if (rule !== null) return rule.means === 'mismatch';
  const counted = await statusOf(came, profile);
  const code = await standsAt(came, profile.error.code);
  return counted >= 400 && counted <= 499 && isWordOf(code, profile.idempotency.mismatchCodes);
}

async function isProofOfEnd(
  { serviceId, said }: { readonly serviceId: string; readonly said: 'issued' | 'failed' },
  came: Came,
  profile: ServiceProfile,
): Promise<boolean> {
  const { id, idPrefix, status: place, [said]: words } = profile.invoice;
  const found = await standsAt(came, id);
  const isEmpty = found === undefined || found === null || found === '';
  const isItsOwn = holdsId(found, serviceId, idPrefix) || (isEmpty && !profile.requests.getInvoice.carriesId);
  return (await isSuccess(came, profile)) && isItsOwn && isWordOf(await standsAt(came, place), words);
}
