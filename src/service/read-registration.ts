import { z } from 'zod';
import type { EndpointAnswer } from '../domain/ports/invoicing-service.ts';
import { isSecret } from '../service-profile/masked-secret.ts';
import { readPlace } from '../service-profile/place.ts';
import type { ServiceProfile } from '../service-profile/profile.ts';
import { shapeWithoutId } from './answer-shapes.ts';
import { classify } from './classify.ts';
import { documentOf, isPage, type AnswerBody, type ExchangeResult } from './exchange-result.ts';
import { look, type CreationShape } from './seen-answer.ts';

const LONGEST_SECRET = 4_096;
/** A text that is too long is not looked at. */
const Secret = z.string().refine((text) => text.length <= LONGEST_SECRET && isSecret(text));

/**
 * What the answer to the registration of the receiver says; the expressions of the profile are evaluated by then. A secret that is masked or can be guessed is
 * none.
 */
export function readRegistration(end: ExchangeResult, profile: ServiceProfile): EndpointAnswer {
  const shape = shapeWithoutId(profile);
  if (isRegistered(end, shape)) {
    const secret = Secret.safeParse(readPlace(documentOf(end), profile.webhook.secret));
    return { kind: 'registered', secret: secret.success ? secret.data : null };
  }
  const answer = classify(end, shape);
  if (answer.kind === 'created' || answer.kind === 'not-permitted')
    return { kind: 'refused', reason: { code: 'answer-unreadable', message: 'No answer' } };
  return { kind: answer.kind === 'lost' ? 'lost' : 'refused', reason: answer.reason };
}

/** A success by the profile, and no rule of it says otherwise; the page of a gateway that is away answers 200, too. */
function isRegistered(end: ExchangeResult, shape: CreationShape): boolean {
  if (end.kind !== 'answer' || isUnread(end.body)) return false;
  const { success, meaning } = look(end, shape);
  return success && (meaning === null || meaning === 'exists');
}

/** A body that did not come whole, of which nobody knows what the profile would find in it, or that no service wrote. */
function isUnread(body: AnswerBody): boolean {
  if (body.kind !== 'unreadable') return false;
  return body.why === 'cut-short' || body.why === 'not-evaluated' || isPage(body.text ?? '');
}
