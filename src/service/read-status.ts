import type { StatusAnswer } from '../domain/ports/invoicing-service.ts';
import { classify, look, type CreationShape } from './classify.ts';
import type { ExchangeResult } from './exchange-result.ts';
import { readPointer } from '../domain/json-pointer.ts';
import type { ServiceProfile } from './profile.ts';
import { reasonCode, reasonText } from './reason-text.ts';

/** What a GET of an invoice says. A word that the profile does not know is `processing`: it is not final. */
export function readStatus(
  end: ExchangeResult,
  asked: { readonly serviceId: string; readonly profile: ServiceProfile; readonly shape: CreationShape },
): StatusAnswer {
  const { invoice } = asked.profile;
  const seen = look(end, asked.shape);
  if (seen.status < 200 || seen.status > 299) return withoutStatus(end, asked.shape);
  const status = readPointer(seen.json, invoice.status);
  if (seen.id !== asked.serviceId) {
    const doubtful = typeof status === 'string' && status !== '' && !invoice.failed.includes(status);
    return { ...notProvedItsOwn(seen.id, invoice.id), doubtful };
  }
  if (typeof status !== 'string' || status === '')
    return unreadable('status-unreadable', `No status at ${invoice.status}`);
  if (invoice.issued.includes(status)) return { kind: 'status', status: 'issued', reason: null };
  if (!invoice.failed.includes(status)) return { kind: 'status', status: 'processing', reason: null };
  const code = reasonCode(readPointer(seen.json, invoice.reasonCode)) ?? 'failed';
  const message = readPointer(seen.json, invoice.reasonMessage);
  return {
    kind: 'status',
    status: 'failed',
    reason: { code, message: reasonText(typeof message === 'string' ? message : 'The service gave no reason') },
  };
}

function withoutStatus(end: ExchangeResult, shape: CreationShape): StatusAnswer {
  const answer = classify(end, shape);
  if (answer.kind === 'refused' || answer.kind === 'key-mismatch')
    return { kind: 'status', status: 'unreadable', reason: answer.reason };
  if (answer.kind === 'created' || answer.kind === 'not-permitted') return unreadable('status-unreadable', 'No status');
  return { kind: 'not-now', reason: answer.reason, retryAfterMs: answer.retryAfterMs };
}

/** A cache or a gateway may answer for the service: only the id shows which invoice the answer is about. */
function notProvedItsOwn(id: string | null, place: string): Unreadable {
  if (id !== null) return unreadable('another-invoice-answered', 'The answer carries the id of another invoice');
  return unreadable('status-without-id', `No id at ${place}, and so no proof that the answer is about this invoice`);
}

type Unreadable = Extract<StatusAnswer, { status: 'unreadable' }>;

function unreadable(code: string, message: string): Unreadable {
  return { kind: 'status', status: 'unreadable', reason: { code, message } };
}
