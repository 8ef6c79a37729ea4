import { readPlace, type Document, type Place } from '../../service-profile/place.ts';

/** Whether a value is what services write where there is none. */
export function isNothing(value: unknown): value is undefined | null | '' {
  return value === undefined || value === null || value === '';
}

/** The one place from which `readPlace` has its value: of a list the first at which something stands; null: none. */
export function placeRead(document: Document, place: Place): string | null {
  if (typeof place === 'string') return place;
  return place.find((one) => !isNothing(readPlace(document, one))) ?? null;
}
