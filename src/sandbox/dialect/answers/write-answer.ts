import { writtenPlace, type Place } from '../place.ts';
import type { SpokenProfile } from '../spoken-profile.ts';
import { otherWord, wordToken } from '../word.ts';
import { WrittenDocument } from '../written-document.ts';

/** An invoice as the operations answer it; only what the profile has a place for goes out. */
export interface AnsweredInvoice {
  readonly id: string | number;
  /** Where a client may ask for it. */
  readonly address: string;
  readonly status: string;
  readonly error?: { readonly code: string; readonly message: string };
}

/** Begins the answer of a success, with the envelope that the profile asks for. */
export function successDocument({ answers }: SpokenProfile, http: number): WrittenDocument {
  const document = new WrittenDocument();
  const [word] = answers.success?.is ?? [];
  if (answers.success !== null && word !== undefined) put(document, answers.success.at, wordToken(word));
  if (answers.status !== null) put(document, answers.status, http);
  return document;
}

/** A service with an envelope answers 200 to everything. */
export function successStatus({ answers }: SpokenProfile, status: number): number {
  return answers.success !== null ? 200 : status;
}

/** Writes an invoice where the profile has its parts. */
export function putInvoice(document: WrittenDocument, { invoice }: SpokenProfile, answered: AnsweredInvoice): void {
  const { id, address, status, error } = answered;
  putId(document, invoice.id, { id, address });
  put(document, invoice.status, wordToken(statusWord(invoice, status)));
  if (error === undefined) return;
  put(document, invoice.reasonCode, error.code);
  putIfFree(document, invoice.reasonMessage, error.message);
}

/** Writes an id; in `Location` as the address of the thing. */
export function putId(
  document: WrittenDocument,
  at: Place,
  { id, address }: Pick<AnsweredInvoice, 'id' | 'address'>,
): void {
  const place = writtenPlace(at);
  if (place === null) return;
  const isAddress = place.kind === 'header' && /^(?:content-)?location$/i.test(place.name);
  document.write(place, isAddress ? address : id);
}

/** Writes at the first place of a list that is no expression. */
export function put(document: WrittenDocument, at: Place, value: unknown): void {
  const place = writtenPlace(at);
  if (place !== null) document.write(place, value);
}

/** The same, unless something stands there: a code and its message may have one place. */
export function putIfFree(document: WrittenDocument, at: Place, value: unknown): void {
  const place = writtenPlace(at);
  if (place !== null) document.writeIfFree(place, value);
}

function statusWord({ issued, failed }: SpokenProfile['invoice'], status: string): string {
  if (status === 'issued') return issued[0] ?? status;
  return status === 'failed' ? (failed[0] ?? status) : otherWord([...issued, ...failed]);
}
