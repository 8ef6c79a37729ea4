import { z } from 'zod';
import { compileExpressions, type Evaluate } from '../profile/expression.ts';
import { readPlace, type Document, shownPlace, is2xx, readId } from '../profile/place.ts';
import type { ServiceProfile } from '../profile/profile.ts';
import { isSuccess, ruleFor, statusThatCounts, type Rule, errorText, statusReason } from '../seen-answer.ts';
import { documentOf, type ExchangeResult } from '../exchange-result.ts';
import type { MerchantListAnswer } from '../../domain/records/service-answers.ts';

type ProblemCode = 'service-unreachable' | 'service-unauthorized' | 'service-list-unreadable';

/** Says why Lote cannot read the whole list of merchants. */
export class ListProblem extends Error {
  readonly code: ProblemCode;

  constructor(why: string, code: ProblemCode = 'service-list-unreadable') {
    super(why);
    this.code = code;
  }
}

/** A merchant of the list. */
export type ListedMerchant = Extract<MerchantListAnswer, { kind: 'list' }>['merchants'][number];

/** One page of the list. */
export interface MerchantPage {
  readonly merchants: readonly ListedMerchant[];
  /** The ids in the order of the page, as one text. */
  readonly ids: string;
  /** The answer, with the values of the expressions of the profile. */
  readonly document: Document;
}

const Nif = z
  .union([z.string(), z.number().int().nonnegative()])
  .transform((nif) => String(nif).replaceAll(/\s/g, ''))
  .pipe(z.string().min(1).max(64));

/** Makes a reader of pages by a profile, and compiles its expressions. The reader throws `ListProblem`. */
export function pageReader(profile: ServiceProfile): (end: ExchangeResult) => Promise<MerchantPage> {
  const { merchants, answers, error } = profile;
  const { items, nextCursor, nextLink, total, more } = merchants;
  const evaluatePage = compileExpressions([
    ...[items, nextCursor, nextLink, total, more],
    ...[answers.success?.at ?? null, answers.status, error.code, error.message],
    ...answers.rules.map(({ has = null }) => has),
  ]);
  const evaluateItem = compileExpressions([merchants.id, merchants.nif]);

  return async (end) => {
    if (end.kind !== 'answer') throw new ListProblem('code' in end ? end.code : end.kind, 'service-unreachable');
    const document = whole(await evaluatePage(documentOf(end)));
    if (end.body.kind !== 'json' && is2xx(end)) {
      const isCut = end.body.why === 'cut-short';
      throw new ListProblem(`its answer is ${end.body.why}`, isCut ? 'service-unreachable' : undefined);
    }
    requireSuccess(document, end.status, profile);
    const found = readPlace(document, items);
    if (!Array.isArray(found)) throw new ListProblem(`no list at ${shownPlace(items)} (merchants.items)`);
    const listed = await readItems(found, profile, evaluateItem);
    return { merchants: listed, ids: listed.map(({ merchantId }) => merchantId).join(' '), document };
  };
}

async function readItems(
  items: readonly unknown[],
  { merchants: { id, idPrefix, nif } }: ServiceProfile,
  evaluate: Evaluate,
): Promise<readonly ListedMerchant[]> {
  const merchants: ListedMerchant[] = [];
  for (const [index, body] of items.entries()) {
    // oxlint-disable-next-line no-await-in-loop -- without expressions, `evaluate` resolves at once
    const item = whole(await evaluate({ body }));
    const merchantId = readId(readPlace(item, id), idPrefix);
    const taxNumber = Nif.safeParse(readPlace(item, nif));
    const nth = `item ${index + 1} of a page`;
    if (merchantId === null)
      throw new ListProblem(
        `${nth} has no ${idPrefix === '' ? 'usable' : idPrefix} id at ${shownPlace(id)} (merchants.id)`,
      );
    if (!taxNumber.success) throw new ListProblem(`${nth} has no tax number at ${shownPlace(nif)} (merchants.nif)`);
    merchants.push({ nif: taxNumber.data, merchantId });
  }
  return merchants;
}

/** Returns the document. @throws ListProblem if an expression of the profile exceeded its limits. */
function whole(document: Document): Document {
  if (document.exceeded === undefined) return document;
  throw new ListProblem(
    `the expression ${JSON.stringify(document.exceeded)} of the service profile exceeded its limit of time, depth or size, so its result is not known`,
  );
}

/** Requires a success. An envelope that reports a failure counts even beside a list. @throws ListProblem */
function requireSuccess(document: Document, httpStatus: number, { answers, error }: ServiceProfile): void {
  if (isSuccess(document, httpStatus, answers)) return;
  const status = statusThatCounts(document, httpStatus, answers);
  const code = readPlace(document, error.code);
  const { message } = statusReason(status, { code: null, message: errorText(readPlace(document, error.message)) });
  const meaning = ruleFor(document, { status, code }, answers)?.means ?? meaningOf(status);
  if (meaning === 'access') throw new ListProblem(message, 'service-unauthorized');
  if (meaning === 'later' || meaning === 'lost') throw new ListProblem(message, 'service-unreachable');
  if (!is2xx({ status: httpStatus })) throw new ListProblem(message);
  const place = shownPlace(answers.success?.at ?? '');
  throw new ListProblem(`${message}, and no word of success at ${place} (answers.success)`);
}

/** Returns the meaning of a status that no rule of the profile explains. */
function meaningOf(status: number): Rule['means'] {
  if (status === 401 || status === 403 || status === 407) return 'access';
  return status === 408 || status === 425 || status === 429 || status >= 500 ? 'later' : 'refused';
}
