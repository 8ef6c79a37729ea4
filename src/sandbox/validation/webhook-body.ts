import { EVENT_TYPES } from '../records.ts';
import type { EventType } from '../records.ts';
import { list, object, readAs } from './field.ts';
import type { Check, Read } from './field.ts';

/** The published fields of a webhook endpoint. */
export interface WebhookBody {
  readonly url: string;
  readonly events: readonly EventType[];
}

const LONGEST_URL = 2000;
// Plain http is for receivers on the same machine: there is no certificate for those.
const LOOPBACK = new Set(['127.0.0.1', '[::1]', 'localhost']);

const address: Check = (value, at) => {
  if (typeof value === 'string' && value.length <= LONGEST_URL && isAllowed(value)) return null;
  return { code: 'field_invalid', field: at, message: 'expected an https address (http on a loopback address only).' };
};

const eventName: Check = (value, at) => {
  const known: readonly unknown[] = EVENT_TYPES;
  if (known.includes(value)) return null;
  return { code: 'field_invalid', field: at, message: `expected one of ${EVENT_TYPES.join(', ')}.` };
};

const check = object({ url: address, events: list(eventName, { min: 1, max: EVENT_TYPES.length }) });

function isAllowed(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const url = new URL(value);
  if (url.username !== '' || url.password !== '') return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK.has(url.hostname));
}

/** The request as a type, or the first problem of it. */
export function readWebhookBody(value: unknown): Read<WebhookBody> {
  return readAs<WebhookBody>(value, check);
}
