import fc from 'fast-check';
import { documentOf, readBody, type AnswerBody, type ExchangeResult } from '../../../src/service/exchange-result.ts';
import type { Evaluate } from '../../../src/service-profile/expression.ts';
import type { ServiceProfile } from '../../../src/service-profile/profile.ts';
import { anyRecipe, made, type Filling, type Recipe } from './any-document.ts';
import { isWordOf, standsAt, type Came } from './stands-at.ts';

const KEY = 'sk_test_0123456789';

const refusing = [301, 303, 400, 401, 403, 404, 408, 409, 422, 425, 429, 500, 502, 503];

type Spoilt = 'encoded' | 'oversize' | 'cut-short' | null;

/** An answer of any service. */
interface AnyAnswer {
  readonly recipe: Recipe;
  readonly status: number;
  readonly spoilt: Spoilt;
}

/** What the code under test gets, and what came of it as the test sees it. */
export function answered(
  { recipe, status: http, spoilt: why }: AnyAnswer,
  fillings: readonly Filling[],
): { end: Answer; came: Came } {
  const { bytes, headers } = made(recipe, fillings);
  const body: AnswerBody = why === null ? readBody(bytes, KEY) : { kind: 'unreadable', why };
  const end: Answer = { kind: 'answer', status: http, retryAfterMs: null, body, headers };
  if (why !== null) return { end, came: { body: undefined, headers: {}, status: http } };
  return { end, came: { ...read(bytes), headers, status: http } };
}

/** An exchange to which a status line came. */
type Answer = Extract<ExchangeResult, { kind: 'answer' }>;

/** The value of JSON; whole numbers that a double cannot hold count with all their digits, as text. */
export function exactly(text: string): unknown {
  return JSON.parse(text.replaceAll(/(?<=[[:,]\s*)\d{17,}(?=\s*[,}\]])/g, '"$&"')) as unknown;
}

function read(bytes: Uint8Array): Pick<Came, 'body' | 'text'> {
  const text = Buffer.from(bytes).toString();
  try {
    return { body: exactly(text) };
  } catch {
    return { body: undefined, text: text === '' || text.trimStart().startsWith('<') ? undefined : text };
  }
}

/** Evaluates the expressions of a profile over an answer, as the client does. */
export async function evaluated(end: Answer, evaluate: Evaluate | null): Promise<Answer> {
  const computed = evaluate === null ? undefined : (await evaluate(documentOf(end))).computed;
  return computed === undefined ? end : { ...end, computed };
}

const isTaken = ({ status: http = 0 }: Came): boolean => http >= 200 && http <= 299;

/** Whether an answer is a success by the profile. */
export async function isSuccess(came: Came, { answers: { success } }: ServiceProfile): Promise<boolean> {
  return isTaken(came) && (success === null || isWordOf(await standsAt(came, success.at), success.is));
}

/** The status of an answer that counts. */
export async function statusOf(came: Came, profile: ServiceProfile): Promise<number> {
  const { status: http = 0 } = came;
  const place = profile.answers.status;
  if (place === null || (await isSuccess(came, profile))) return http;
  const found = await standsAt(came, place);
  const said = typeof found === 'string' || typeof found === 'number' ? Number(found) : 0;
  return Number.isInteger(said) && said >= 400 && said <= 599 ? said : http;
}

/** Any answer; `right` as in `anyRecipe`. */
export function anyAnswer(right: number): fc.Arbitrary<AnyAnswer> {
  return fc.record({
    recipe: anyRecipe({ right }),
    status: fc.oneof(
      { arbitrary: fc.constantFrom(200, 201, 202), weight: right },
      { arbitrary: fc.constantFrom(...refusing), weight: 10 - right },
      { arbitrary: fc.integer({ min: 100, max: 599 }), weight: 1 },
    ),
    spoilt: fc.oneof(
      { arbitrary: fc.constant(null), weight: 2 * right },
      { arbitrary: fc.constantFrom('encoded' as const, 'oversize' as const, 'cut-short' as const), weight: 1 },
    ),
  });
}

/** Counts what was seen, so that a property that meets nothing is found out. */
export class Tally {
  readonly #seen = new Map<string, number>();

  count(kind: string): void {
    this.#seen.set(kind, this.times(kind) + 1);
  }

  times(kind: string): number {
    return this.#seen.get(kind) ?? 0;
  }
}
