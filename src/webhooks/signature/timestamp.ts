import { headerLines } from '../header-lines.ts';
import { refuse, type Refused } from './refusal.ts';
import type { RequestHead, SignatureShape } from './request-head.ts';

const HEADER = 'header:';
const PART = 'part:';

const NUMBER = /^\d{1,13}(?:\.\d{1,9})?$/;
/** Without a zone nobody knows which time is meant. */
const ISO = /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)(?:[Zz]|([+-]\d{2}):?(\d{2}))$/;
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** A number beyond it is of milliseconds: as seconds it would be in the year 5138. */
const LARGEST_SECONDS = 100_000_000_000;

/**
 * The text of the timestamp as it came, '' when the profile names none; a refusal when it stands there not exactly
 * once, cannot be read, or is further from now than the tolerance, in either direction.
 */
export function readTimestamp(head: RequestHead, shape: SignatureShape, parts: readonly string[]): string | Refused {
  const { timestamp: place, toleranceSeconds } = shape;
  if (place === null) return '';
  const found = place.startsWith(HEADER)
    ? headerLines(head.rawHeaders, place.slice(HEADER.length))
    : partsWith(place.slice(PART.length), parts);
  const [text] = found;
  // Two of them could be read differently here and by who signed.
  if (text === undefined || found.length > 1) return refuse('timestamp-unreadable');
  const at = timeOf(text.trim());
  if (at === null) return refuse('timestamp-unreadable');
  return Math.abs(head.now - at) > toleranceSeconds * 1_000 ? refuse('timestamp-outside-tolerance') : text;
}

function partsWith(prefix: string, parts: readonly string[]): readonly string[] {
  return parts.filter((part) => part.startsWith(prefix)).map((part) => part.slice(prefix.length));
}

/** Epoch milliseconds of a timestamp in seconds, milliseconds, ISO 8601 with a zone, or as in HTTP; null: it is none. */
export function timeOf(text: string): number | null {
  if (NUMBER.test(text)) {
    const number = Number(text);
    return number < LARGEST_SECONDS ? number * 1_000 : number;
  }
  const time = Date.parse(HTTP_DATE.test(text) ? text : isoOf(text));
  return Number.isNaN(time) ? null : time;
}

/** The form that every engine reads alike; '' for what is no ISO 8601. */
function isoOf(text: string): string {
  const [, date, time, hours, minutes] = ISO.exec(text) ?? [];
  if (date === undefined || time === undefined) return '';
  return `${date}T${time}${hours === undefined ? 'Z' : `${hours}:${minutes}`}`;
}
