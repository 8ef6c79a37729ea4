import type { IncomingHttpHeaders } from 'node:http';
import { type Answer, errorAnswer } from '../http/answer.ts';
import type { Route } from '../http/routes.ts';
import { unspeakableKeys } from './check-speakable.ts';
import type { Dialect } from './dialect.ts';
import { freshNumber, idForm } from './id.ts';
import { type BodyKind, readRequest } from './requests/read-request.ts';
import { newSecret, signDelivery } from './deliveries/sign-delivery.ts';
import { spokenRoutes } from './requests/spoken-routes.ts';
import { parseSpokenProfile, type SpokenProfile } from './spoken-profile.ts';
import { answerWriter, type Forms } from './answers/answer-writer.ts';
import { tryOut } from './try-out.ts';
import { UnspeakableProfile } from './unspeakable.ts';
import { writeEvent } from './deliveries/write-event.ts';

/**
 * Makes the dialect of a service profile from the text of its file.
 * @throws UnspeakableProfile when something in it cannot be turned around: what a client reads by it, the sandbox must be able to write.
 */
export function profileDialect(text: string, clock: () => number = Date.now): Dialect {
  const profile = parseSpokenProfile(text);
  const keys = unspeakableKeys(profile);
  if (keys.length > 0) throw new UnspeakableProfile(keys);
  tryOut(profile);
  const forms: Forms = {
    invoices: idForm('inv_', profile.invoice.idPrefix),
    merchants: idForm('mrc_', profile.merchants.idPrefix),
  };
  const routes = spokenRoutes(profile);
  return {
    findRoute(method, url) {
      const found = routes(method, url);
      return found.kind === 'found' ? { ...found, id: forms.invoices.inner(found.id) ?? found.id } : found;
    },
    refuseHead: headRefusal(profile),
    readBody(body, { operationId }) {
      const kind = operationId as BodyKind;
      const read = readRequest(profile, { kind, text: body.text, merchants: forms.merchants });
      if ('code' in read) return read;
      return { body: read.body, ...(read.secret !== null && { endpointSecret: read.secret }) };
    },
    write: answerWriter(profile, forms),
    newId: (prefix, drawn) => newIdOf(profile, prefix, drawn),
    seal({ url, secret }, { id, body, forged }) {
      const event = JSON.parse(body) as PlannedEvent;
      const { data } = event;
      const invoiceId = forms.invoices.outer(data.id);
      const document = writeEvent(profile, { id: event.id, invoiceId, error: data.error ?? null });
      const headers = { 'content-type': 'application/json', ...document.headers };
      return signDelivery(profile.signature, {
        ...{ id, url, secret, headers, forged },
        ...{ body: document.bytes, now: clock() },
      });
    },
  };
}

/** The body of a delivery as it is planned and stored. */
interface PlannedEvent {
  readonly id: string;
  readonly data: { readonly id: string; readonly error?: { readonly code: string; readonly message: string } };
}

function newIdOf({ invoice, merchants, signature }: SpokenProfile, prefix: string, drawn: Buffer): string | null {
  if (prefix === 'whsec_') return newSecret(signature);
  const isNumber = (prefix === 'inv_' && invoice.idPrefix === '') || (prefix === 'mrc_' && merchants.idPrefix === '');
  return isNumber ? prefix + freshNumber(drawn) : null;
}

function headRefusal({ requests }: SpokenProfile): Dialect['refuseHead'] {
  const [mediaType = ''] = requests.contentType.toLowerCase().split(';');
  return (headers: IncomingHttpHeaders, { method }: Route): Answer | null => {
    for (const [name, value] of Object.entries(requests.headers)) {
      if (headers[name.toLowerCase()] === value.trim()) continue;
      return errorAnswer(400, 'field_missing', 'the profile asks for this header and its value.', { field: name });
    }
    const [sent = ''] = (headers['content-type'] ?? '').toLowerCase().split(';');
    if (method === 'GET' || sent.trim() === mediaType.trim()) return null;
    return errorAnswer(415, 'content_type_unsupported', `Content-Type: expected ${requests.contentType}.`);
  };
}
