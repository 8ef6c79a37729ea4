import type { ReplayedPlace, ReplayRow } from '../../domain/ports/replay.ts';
import { shownPlace, type Place } from '../../service-profile/place.ts';

/** What one record says, before it is compared with the others. */
export interface ReadRecord {
  readonly row: ReplayRow;
  readonly facts: RecordFacts;
}

/** What is compared with other records; null: the record does not say it. */
export interface RecordFacts {
  readonly serviceId: string | null;
  /** The word for the state of the invoice, or the type of an event. */
  readonly word: string | null;
  /** What the profile makes of that word; `open`: neither. */
  readonly verdict: 'issued' | 'failed' | 'open' | null;
}

/** Of a record that is compared with no other. */
export const NO_FACTS: RecordFacts = { serviceId: null, word: null, verdict: null };

const LONGEST_VALUE = 80;

/** A setting with what stands at its place; values are masked already. */
export function placeFound(setting: string, place: Place, value: unknown): ReplayedPlace {
  return { setting, place: shownPlace(place), value: shownValue(value) };
}

function shownValue(value: unknown): string | null {
  if (value === undefined || value === null || value === '') return null;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE - 1)}…` : text;
}
