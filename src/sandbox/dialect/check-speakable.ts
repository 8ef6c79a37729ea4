import { unreadableTemplate } from './requests/check-template.ts';
import { writtenPlace, type Place } from './place.ts';
import { templateOf, type BodyKind } from './requests/read-request.ts';
import type { SpokenProfile } from './spoken-profile.ts';
import { unspeakable, type UnspeakableKey } from './unspeakable.ts';

const BODIES: readonly BodyKind[] = ['createInvoice', 'createMerchant', 'registerWebhook'];

/** What of a profile the sandbox cannot write or read back; nothing: it can speak it. */
export function unspeakableKeys(profile: SpokenProfile): readonly UnspeakableKey[] {
  const places = Object.entries(writtenKeys(profile)).flatMap(([key, place]) =>
    place === null || writtenPlace(place) !== null ? [] : [unwritten(key, place)],
  );
  const templates = BODIES.map((kind) => unreadableTemplate(templateOf(profile, kind), `requests.${kind}.body`));
  return [...places, ...templates.filter((reason) => reason !== null).map(unspeakable)];
}

/** Every place at which the sandbox has something to say. */
function writtenKeys({ answers, error, invoice, merchants, webhook, event, signature }: SpokenProfile) {
  const { paging } = merchants;
  const givesSecret = webhook.register && (signature.kind === 'hmac' || signature.kind === 'token');
  return {
    'answers.success.at': answers.success?.at ?? null,
    'answers.status': answers.status,
    'error.code': error.code,
    'error.message': error.message,
    'invoice.id': invoice.id,
    'invoice.status': invoice.status,
    'invoice.reasonCode': invoice.reasonCode,
    'invoice.reasonMessage': invoice.reasonMessage,
    'merchants.createdId': merchants.createdId,
    'merchants.items': merchants.items,
    'merchants.id': merchants.id,
    'merchants.nif': merchants.nif,
    'merchants.nextCursor': paging === 'cursor' ? merchants.nextCursor : null,
    'merchants.nextLink': paging === 'link' ? merchants.nextLink : null,
    'merchants.total': merchants.total,
    'merchants.pages': merchants.pages,
    'merchants.more': merchants.more,
    'webhook.secret': givesSecret ? webhook.secret : null,
    'event.payload.at': event.payload?.at ?? null,
    'event.items': event.items,
    'event.type': event.type,
    'event.invoiceId': event.invoiceId,
    'event.eventId': event.eventId,
    'event.reasonCode': event.reasonCode,
    'event.reasonMessage': event.reasonMessage,
  } satisfies Record<string, Place | null>;
}

const LONGEST_SHOWN = 60;

/** A real service has nothing at the place of the sandbox, so that the expression still counts there. */
function unwritten(key: string, place: Place): UnspeakableKey {
  const [first = ''] = [place].flat();
  const shown = JSON.stringify(first.length > LONGEST_SHOWN ? `${first.slice(0, LONGEST_SHOWN)}…` : first);
  const own = `/sandbox_${key.replaceAll('.', '_')}`;
  const reason = `${key} is the expression ${shown}, and the sandbox cannot write what an expression would find. Put a place for the sandbox before it, such as [${JSON.stringify(own)}, ${shown}].`;
  return { reason, ownPlace: { key, place: own } };
}
