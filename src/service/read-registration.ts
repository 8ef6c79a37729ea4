import { z } from 'zod';
import type { EndpointAnswer } from '../domain/ports/invoicing-service.ts';
import { readPlace, is2xx } from '../service-profile/place.ts';
import type { ServiceProfile } from '../service-profile/profile.ts';
import { shapeWithoutId } from './answer-shapes.ts';
import { classify } from './classify.ts';
import { documentOf, type AnswerBody, type ExchangeResult } from './exchange-result.ts';

/** As in `linked-paging.ts`: the length of what is no string is not looked at. */
const Secret = z.string().refine(({ length }) => length >= 1 && length <= 4_096);

/** What the answer to the registration of the receiver says; the expressions of the profile are evaluated by then. */
export function readRegistration(end: ExchangeResult, profile: ServiceProfile): EndpointAnswer {
  if (end.kind === 'answer' && is2xx(end) && !isUnread(end.body)) {
    const secret = Secret.safeParse(readPlace(documentOf(end), profile.webhook.secret));
    return { kind: 'registered', secret: secret.success ? secret.data : null };
  }
  const answer = classify(end, shapeWithoutId(profile));
  if (answer.kind === 'created' || answer.kind === 'not-permitted')
    return { kind: 'refused', reason: { code: 'answer-unreadable', message: 'No answer' } };
  return { kind: answer.kind === 'lost' ? 'lost' : 'refused', reason: answer.reason };
}

/** A body that did not come whole, or of which nobody knows what the profile would find in it. */
function isUnread(body: AnswerBody): boolean {
  return body.kind === 'unreadable' && (body.why === 'cut-short' || body.why === 'not-evaluated');
}
