import { idForm } from './id.ts';
import { meaningOf } from './answers/meaning.ts';
import { writePage } from './answers/merchant-page.ts';
import type { Place } from './place.ts';
import type { SpokenProfile } from './spoken-profile.ts';
import { unspeakable, UnspeakableProfile } from './unspeakable.ts';
import { put, putId, putInvoice, successDocument, successStatus } from './answers/write-answer.ts';
import { writeEvent } from './deliveries/write-event.ts';
import { writeProblem } from './answers/write-problem.ts';
import { PlaceTaken, type WrittenDocument } from './written-document.ts';

const ID = { id: 'id', address: '/id' };
const ERROR = { code: 'code', message: 'message' };

/**
 * Writes one of each answer and delivery, so that a profile whose places exclude each other is refused at the start and not at the first invoice.
 * @throws UnspeakableProfile
 */
export function tryOut(profile: SpokenProfile): void {
  const { invoice, merchants, webhook } = profile;
  const created = (write: (document: WrittenDocument) => void): WrittenDocument => {
    const document = successDocument(profile, CREATED);
    write(document);
    return document;
  };
  const asInvoice = (status: string): WrittenDocument =>
    created((document) =>
      putInvoice(document, profile, { ...ID, status, ...(status === 'failed' && { error: ERROR }) }),
    );
  const reasons = [
    ...tried('invoice', () => asInvoice('failed')),
    ...tried('merchants.createdId', () => created((document) => putId(document, merchants.createdId, ID))),
    ...tried('merchants', () => writeSamplePage(profile)),
    ...tried('webhook.secret', () => created((document) => put(document, webhook.secret, 'secret'))),
    ...tried('event', () => writeEvent(profile, { id: 'id', invoiceId: 'id', error: ERROR })),
  ];
  if (reasons.length > 0) throw new UnspeakableProfile(reasons.map(unspeakable));
  const readings = [
    ...misread(profile, { what: 'a created invoice', document: asInvoice('processing'), id: invoice.id }),
    ...(canRefuse(profile) ? [] : ['answers: no error can be written that the profile reads as a refusal.']),
  ];
  if (readings.length > 0) throw new UnspeakableProfile(readings.map(unspeakable));
}

const CREATED = 201;

function tried(key: string, write: () => unknown): readonly string[] {
  try {
    write();
    return [];
  } catch (error) {
    if (!(error instanceof PlaceTaken)) throw error;
    return [
      `${key}: not all of its places can be written into one document, for something else stands at ${error.message} or on the way to it.`,
    ];
  }
}

function writeSamplePage(profile: SpokenProfile): void {
  const merchant = {
    ...{ id: 'mrc_1', applicationId: '', nif: '1', position: 0, idempotencyKey: null },
    ...{ body: '', bodySha256: '', createdAt: 0 },
  };
  const asked = { merchants: [merchant], url: new URL('http://sandbox.invalid/'), host: '', ids: idForm('mrc_', '') };
  writePage(successDocument(profile, successStatus(profile, 200)), profile, asked);
}

function misread(
  profile: SpokenProfile,
  { what, document, id }: { readonly what: string; readonly document: WrittenDocument; readonly id: Place },
): readonly string[] {
  const meaning = meaningOf(document, successStatus(profile, CREATED), profile, id);
  return meaning === 'success' || meaning === 'exists'
    ? []
    : [`answers.rules: ${what} is written in a way that a rule reads as ${JSON.stringify(meaning)}.`];
}

function canRefuse(profile: SpokenProfile): boolean {
  const problem = {
    means: 'refused' as const,
    status: 422,
    ...ERROR,
    headers: {},
    isList: false,
    id: profile.invoice.id,
  };
  return writeProblem(profile, problem) !== null;
}
