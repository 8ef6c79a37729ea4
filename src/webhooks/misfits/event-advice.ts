import { shownWord } from '../../domain/profile-misfit.ts';
import { shownPlace } from '../../service-profile/place.ts';
import { isOneOf } from '../../service-profile/word.ts';
import { parseJson, textOf } from '../event-document.ts';
import type { EventReaderShapes } from '../event-reader.ts';

/** Code of deliveries that are signed and cannot be read. */
export const EVENTS_UNREADABLE = 'events-unreadable';
/** Code of events whose types stand in no list of the profile. */
export const EVENTS_UNKNOWN = 'events-unknown';

const MOST_NODES = 2_000;
const MOST_LEVELS = 12;
const PLAIN_POINTER = /^(?:\/[A-Za-z_][\w-]{0,40}|\/\d{1,4}){1,12}$/;

/** What to say of signed deliveries that cannot be read; `raw` is one of them, null: none was kept. */
export function unreadableAdvice(
  { event, idPrefix }: EventReaderShapes,
  times: number,
  raw: Uint8Array | null,
): string {
  const head = `${times} of ${times} deliveries have a right signature, and none can be read:`;
  const text = raw === null ? null : textOf(raw);
  const body = text === null ? undefined : parseJson(text);
  if (raw !== null && body === undefined)
    return `${head} they are no JSON. Final answers come by asking (GET) meanwhile.`;
  const words = [...event.issued, ...event.failed];
  const isId = (value: unknown): boolean => idPrefix !== '' && typeof value === 'string' && value.startsWith(idPrefix);
  const type = pointerTo(body, (value) => isOneOf(value, words));
  const id = pointerTo(body, isId);
  const found = [
    ...(type === null ? [] : [`a type that the profile knows stands at ${type}`]),
    ...(id === null ? [] : [`an ${idPrefix} id stands at ${id}`]),
  ];
  const places = `no type at ${shownPlace(event.type)} (event.type) or no id at ${shownPlace(event.invoiceId)} (event.invoiceId)`;
  const next = found.length === 0 ? '' : `; ${found.join(', ')}`;
  return `${head} ${places}${next}. Correct the service profile; final answers come by asking (GET) meanwhile.`;
}

/** What to say of events that mean nothing final; `types` are some of theirs. */
export function unknownAdvice(times: number, types: readonly string[]): string {
  const words = types.map((type) => shownWord(type)).join(', ');
  return `Events of type ${words} mean nothing to the profile: ${times} of ${times} events are about invoices and say nothing final. Look at event.issued and event.failed of the service profile; final answers come by asking (GET) meanwhile.`;
}

/** JSON Pointer of the nearest value that fits; null: none, or its keys might name somebody. */
function pointerTo(body: unknown, fits: (value: unknown) => boolean): string | null {
  let level: readonly (readonly [pointer: string, value: unknown])[] = [['', body]];
  let nodes = 0;
  for (let depth = 0; depth < MOST_LEVELS && level.length > 0; depth += 1) {
    const hit = level.find(([pointer, value]) => PLAIN_POINTER.test(pointer) && fits(value));
    if (hit !== undefined) return hit[0];
    nodes += level.length;
    const left = Math.max(0, MOST_NODES - nodes);
    level = level
      .flatMap(([pointer, value]) =>
        typeof value === 'object' && value !== null
          ? Object.entries(value)
              .slice(0, left)
              .map(([key, inner]) => [`${pointer}/${key}`, inner] as const)
          : [],
      )
      .slice(0, left);
  }
  return null;
}
