import { z } from 'zod';
import { compileExpressions } from '../profile/expression.ts';
import { readPlace, type Document, shownPlace, is2xx, readId } from '../profile/place.ts';
import type { ServiceProfile } from '../profile/profile.ts';
import { answerExpressions, look, statusReason, type Rule, type Seen } from '../seen-answer.ts';
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
  /** The answer, with the values of the expressions of the profile. */
  readonly document: Document;
}

const Nif = z
  .union([z.string(), z.number().int().nonnegative()])
  .transform((nif) => String(nif).replaceAll(/\s/g, ''))
  .pipe(z.string().min(1).max(64));

const EXCEEDED = 'an expression of the service profile exceeded its limit of time, depth or size';

/** Makes a reader of pages by a profile, and compiles its expressions. The reader throws `ListProblem`. */
export function pageReader(profile: ServiceProfile): (answer: ExchangeResult) => Promise<MerchantPage> {
  const { items, nextCursor, nextLink, total, more, id, idPrefix, nif } = profile.merchants;
  const evaluatePage = answerExpressions(profile, [items, nextCursor, nextLink, total, more]);
  const evaluateItem = compileExpressions([id, nif]);

  async function readItem(body: unknown, index: number): Promise<ListedMerchant> {
    const item = await evaluateItem({ body });
    const merchantId = readId(readPlace(item, id), idPrefix);
    const taxNumber = Nif.safeParse(readPlace(item, nif));
    const nth = `item ${index + 1} of a page`;
    if (item.exceeded !== undefined) throw new ListProblem(EXCEEDED);
    if (merchantId === null)
      throw new ListProblem(
        `${nth} has no ${idPrefix === '' ? 'usable' : idPrefix} id at ${shownPlace(id)} (merchants.id)`,
      );
    if (!taxNumber.success) throw new ListProblem(`${nth} has no tax number at ${shownPlace(nif)} (merchants.nif)`);
    return { nif: taxNumber.data, merchantId };
  }

  return async (answer) => {
    const end = await evaluatePage(answer);
    if (end.kind !== 'answer') throw new ListProblem('code' in end ? end.code : end.kind, 'service-unreachable');
    if (end.body.kind !== 'json' && is2xx(end)) {
      const { why } = end.body;
      if (why === 'not-evaluated') throw new ListProblem(EXCEEDED);
      throw new ListProblem(`its answer is ${why}`, why === 'cut-short' ? 'service-unreachable' : undefined);
    }
    requireSuccess(look(end, profile, null), end.status, profile);
    const document = documentOf(end);
    const found = readPlace(document, items);
    if (!Array.isArray(found)) throw new ListProblem(`no list at ${shownPlace(items)} (merchants.items)`);
    const merchants: ListedMerchant[] = [];
    for (const [index, body] of found.entries()) {
      // oxlint-disable-next-line no-await-in-loop -- without expressions, `evaluateItem` resolves at once
      merchants.push(await readItem(body, index));
    }
    return { merchants, document };
  };
}

/** Requires a success. An envelope that reports a failure counts even beside a list. @throws ListProblem */
function requireSuccess({ success, status, meaning, errorMessage }: Seen, http: number, profile: ServiceProfile): void {
  if (success) return;
  const { message } = statusReason(status, { code: null, message: errorMessage });
  const means = meaning ?? meaningOf(status);
  if (means === 'access') throw new ListProblem(message, 'service-unauthorized');
  if (means === 'later' || means === 'lost') throw new ListProblem(message, 'service-unreachable');
  if (!is2xx({ status: http })) throw new ListProblem(message);
  const place = shownPlace(profile.answers.success?.at ?? '');
  throw new ListProblem(`${message}, and no word of success at ${place} (answers.success)`);
}

/** Returns the meaning of a status that no rule of the profile explains. */
function meaningOf(status: number): Rule['means'] {
  if (status === 401 || status === 403 || status === 407) return 'access';
  return status === 408 || status === 425 || status === 429 || status >= 500 ? 'later' : 'refused';
}
