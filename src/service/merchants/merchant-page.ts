import { z } from 'zod';
import { compileExpressions, type Evaluate } from '../profile/expression.ts';
import { readPlace, type Document, shownPlace, is2xx, readId } from '../profile/place.ts';
import type { ServiceProfile } from '../profile/profile.ts';
import { isSuccess, ruleFor, statusThatCounts, type Rule, errorText, statusReason } from '../seen-answer.ts';
import { documentOf, type ExchangeResult } from '../exchange-result.ts';
import type { MerchantListAnswer } from '../../domain/records/service-answers.ts';

/** A merchant as the list names it. */
export interface ListedMerchant {
  readonly nif: string;
  readonly merchantId: string;
}

/** A page of the list. */
export interface MerchantPage {
  readonly merchants: readonly ListedMerchant[];
  /** The answer, with the values of the expressions of the profile. */
  readonly document: Document;
}

/** Reads the end of one exchange as a page. */
export type PageReader = (end: ExchangeResult) => Promise<MerchantPage | Unreadable>;

const Nif = z
  .union([z.string(), z.number().int().nonnegative()])
  .transform((nif) => String(nif).replaceAll(/\s/g, ''))
  .pipe(z.string().min(1).max(64));

/** A reader of pages by a profile, whose expressions are compiled here. */
export function pageReader(profile: ServiceProfile): PageReader {
  const { merchants, answers, error } = profile;
  const { items, nextCursor, nextLink, total, pages, more } = merchants;
  const evaluatePage = compileExpressions([
    ...[items, nextCursor, nextLink, total, pages, more],
    ...[answers.success?.at ?? null, answers.status, error.code, error.message],
    ...answers.rules.map(({ has = null }) => has),
  ]);
  const evaluateItem = compileExpressions([merchants.id, merchants.nif]);

  return async (end) => {
    if (end.kind !== 'answer') return failed('service-unreachable', 'code' in end ? end.code : end.kind);
    const plain = documentOf(end);
    const document = evaluatePage === null ? plain : await evaluatePage(plain);
    if (document.exceeded !== undefined) return unreadable(tooMuch(document.exceeded));
    if (end.body.kind !== 'json' && is2xx(end)) {
      const code = end.body.why === 'cut-short' ? 'service-unreachable' : 'service-list-unreadable';
      return failed(code, `its answer is ${end.body.why}`);
    }
    const refusal = refusalIn(document, end.status, profile);
    if (refusal !== null) return refusal;
    const found = readPlace(document, items);
    if (!Array.isArray(found)) return unreadable(`no list at ${shownPlace(items)} (merchants.items)`);
    const read = await readItems(found, profile, evaluateItem);
    return 'kind' in read ? read : { merchants: read, document };
  };
}

async function readItems(
  items: readonly unknown[],
  { merchants: { id, idPrefix, nif } }: ServiceProfile,
  evaluate: Evaluate | null,
): Promise<readonly ListedMerchant[] | Unreadable> {
  const merchants: ListedMerchant[] = [];
  for (const [index, body] of items.entries()) {
    // oxlint-disable-next-line no-await-in-loop -- without expressions nothing is awaited
    const item = evaluate === null ? { body } : await evaluate({ body });
    if ('exceeded' in item) return unreadable(tooMuch(item.exceeded));
    const merchantId = readId(readPlace(item, id), idPrefix);
    const taxNumber = Nif.safeParse(readPlace(item, nif));
    const nth = `item ${index + 1} of a page`;
    if (merchantId === null)
      return unreadable(
        `${nth} has no ${idPrefix === '' ? 'usable' : idPrefix} id at ${shownPlace(id)} (merchants.id)`,
      );
    if (!taxNumber.success) return unreadable(`${nth} has no tax number at ${shownPlace(nif)} (merchants.nif)`);
    merchants.push({ nif: taxNumber.data, merchantId });
  }
  return merchants;
}

function tooMuch(expression: string): string {
  return `the expression ${JSON.stringify(expression)} of the service profile exceeded its limit of time, depth or size, so that nobody knows what it would have found`;
}

/** null: the answer is a success. An envelope that says otherwise counts even beside a list. */
function refusalIn(document: Document, httpStatus: number, { answers, error }: ServiceProfile): Unreadable | null {
  if (isSuccess(document, httpStatus, answers)) return null;
  const status = statusThatCounts(document, httpStatus, answers);
  const code = readPlace(document, error.code);
  const { message } = statusReason(status, { code: null, message: errorText(readPlace(document, error.message)) });
  const meaning = ruleFor(document, { status, code }, answers)?.means ?? meaningOf(status);
  if (meaning === 'access') return failed('service-unauthorized', message);
  if (meaning === 'later' || meaning === 'lost') return failed('service-unreachable', message);
  if (!is2xx({ status: httpStatus })) return unreadable(message);
  return unreadable(`${message}, and no word of success at ${shownPlace(answers.success?.at ?? '')} (answers.success)`);
}

/** What a status means that no rule of the profile explains. */
function meaningOf(status: number): Rule['means'] {
  if (status === 401 || status === 403 || status === 407) return 'access';
  return status === 408 || status === 425 || status === 429 || status >= 500 ? 'later' : 'refused';
}

/** A list that was not read whole, and why. */
export type Unreadable = Extract<MerchantListAnswer, { kind: 'unreadable' }>;

/** The service answered, and what it answered is no whole list. */
export function unreadable(why: string): Unreadable {
  return failed('service-list-unreadable', why);
}

/** The list was not read for one of the reasons that operators are told apart. */
function failed(
  code: 'service-unreachable' | 'service-unauthorized' | 'service-list-unreadable',
  why: string,
): Unreadable {
  return { kind: 'unreadable', reason: { code, message: `Reading the list of merchants: ${why}` } };
}
