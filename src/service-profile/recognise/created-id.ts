import type { Document, Place } from '../place.ts';
import { missing, seen, type Recognised } from './finding.ts';
import { placesOfId, prefixOf } from './id-places.ts';
import { shownId } from './shown.ts';

/** The answers to the creation of one thing and to the question for it, and the id by which the service knows it. */
export interface KnownCreation {
  readonly id: string;
  readonly created: Document;
  /** What showed that this is the id, as a phrase. */
  readonly proof: string;
}

/** Where the id of a new merchant stands. */
export function recogniseMerchantId({ id, created, proof }: KnownCreation): Recognised {
  const [found] = placesOfId(created, id);
  if (found === undefined) return [missing('merchants.createdId', 'the answer to the creation does not hold the id')];
  return [
    seen('merchants.createdId', found.place, `${statusOf(created)}: ${shownId(found.value)}; ${proof}`),
    seen('merchants.idPrefix', prefixOf(id, 'mrc_'), `the id is ${shownId(found.value)}`),
  ];
}

/** Where the id of an invoice stands in the answers to POST and GET: at one place of both, or at one of each. */
export function recogniseInvoiceId({ id, created, proof }: KnownCreation, shown: readonly Document[]): Recognised {
  const afterPost = placesOfId(created, id);
  const [first] = afterPost;
  if (first === undefined) return [missing('invoice.id', 'the answer to the creation does not hold the id')];
  const afterGet = shown.map((one) => placesOfId(one, id).map(({ place }) => place));
  const inAll = (place: string): boolean => afterGet.every((places) => places.includes(place));
  const both = afterPost.find(({ place }) => inAll(place));
  const [other] = afterGet[0] ?? [];
  const place: Place | null =
    both?.place ??
    (other === undefined ? null : afterGet.every((places) => places.includes(other)) ? [first.place, other] : null);
  if (place === null)
    return [missing('invoice.id', `the id stands at ${first.place} after the POST, and nowhere after the GET`)];
  return [
    seen('invoice.id', place, `${statusOf(created)}: ${shownId(first.value)}; ${proof}`),
    seen('invoice.idPrefix', prefixOf(id, 'inv_'), `the id is ${shownId(first.value)}`),
  ];
}

function statusOf({ status = 0 }: Document): string {
  return `POST was answered with ${status}`;
}
