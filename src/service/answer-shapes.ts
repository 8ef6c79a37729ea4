import { compileExpressions } from './profile/expression.ts';
import type { ServiceProfile } from './profile/profile.ts';
import { documentOf, type ExchangeResult } from './exchange-result.ts';
import type { CreationShape } from './seen-answer.ts';

/** How answers about invoices are read. */
export function invoiceShape(profile: ServiceProfile): CreationShape {
  const { id, idPrefix, status } = profile.invoice;
  return shapeOf(profile, { id, idPrefix, status });
}

/** How the answer to the creation of a merchant is read. */
export function merchantShape(profile: ServiceProfile): CreationShape {
  return shapeOf(profile, { id: profile.merchants.createdId, idPrefix: profile.merchants.idPrefix });
}

/** How answers are read that carry no id which Lote needs. */
export function shapeWithoutId(profile: ServiceProfile): CreationShape {
  return shapeOf(profile, { id: '', idPrefix: null });
}

function shapeOf(profile: ServiceProfile, id: Pick<CreationShape, 'id' | 'idPrefix' | 'status'>): CreationShape {
  return {
    ...id,
    errorCode: profile.error.code,
    errorMessage: profile.error.message,
    mismatchCodes: profile.idempotency.mismatchCodes,
    answers: profile.answers,
  };
}

/** Evaluates the expressions of the profile once for each answer, before it is read. The list of merchants evaluates its own. */
export function answerExpressions(profile: ServiceProfile): (end: ExchangeResult) => Promise<ExchangeResult> {
  const { invoice, merchants, error, answers, webhook } = profile;
  const evaluate = compileExpressions([
    ...[invoice.id, invoice.status, invoice.reasonCode, invoice.reasonMessage, merchants.createdId],
    ...[error.code, error.message, webhook.secret, answers.status, answers.success?.at ?? null],
    answers.wait?.at ?? null,
    ...answers.rules.flatMap(({ has = null, id = null }) => [has, id]),
  ]);
  return async (end) => {
    if (end.kind !== 'answer') return end;
    const { computed, exceeded } = await evaluate(documentOf(end));
    if (exceeded !== undefined) return { ...end, body: { kind: 'unreadable', why: 'not-evaluated' } };
    return computed === undefined ? end : { ...end, computed };
  };
}
