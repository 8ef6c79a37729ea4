import jsonata from 'jsonata';
import type { Place } from '../../../src/service-profile/place.ts';

/** What came, as the tests see it. */
export interface Came {
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly text?: string | undefined;
  readonly status?: number;
}

const compiled = new Map<string, jsonata.Expression>();

/** What stands at a place of a profile, read without the code under test; undefined: nothing does. */
export async function standsAt(came: Came, place: Place): Promise<unknown> {
  const places = [place].flat();
  for (const one of places) {
    // oxlint-disable-next-line no-await-in-loop
    const found = await standsAtOne(came, one);
    if (places.length === 1 || !isNothing(found)) return found;
  }
  return undefined;
}

/** Whether it is what services write where there is nothing. */
export function isNothing(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

/** Whether one of some words stands there. */
export function isWordOf(value: unknown, words: readonly string[]): boolean {
  return (
    ['string', 'number', 'boolean'].includes(typeof value) &&
    words.some((word) => word.trim().toLowerCase() === String(value).trim().toLowerCase())
  );
}

/** Whether a value holds this id, as it is or as a step of an address. */
export function holdsId(value: unknown, id: string, prefix: string): boolean {
  if (!id.startsWith(prefix) || !/^[\w-][\w.~:=@+,-]{0,320}$/.test(id) || id === prefix) return false;
  if (typeof value === 'number') return String(value) === id && value > 0;
  if (typeof value !== 'string') return false;
  return value === id || (/^(?:https?:\/)?\//i.test(value) && value.includes(id));
}

async function standsAtOne({ body, headers, text, status }: Came, place: string): Promise<unknown> {
  if (place === 'text') return text;
  if (place.startsWith('header:')) {
    const name = place.slice('header:'.length).trim().toLowerCase();
    const value = Object.hasOwn(headers, name) ? headers[name] : undefined;
    return typeof value === 'object' ? value.join(', ') : value;
  }
  if (!place.startsWith('jsonata:')) return pointedAt(body, place);
  const source = place.slice('jsonata:'.length);
  const expression = compiled.get(source) ?? jsonata(source, { timeout: 250, stack: 200, sequence: 10_000 });
  compiled.set(source, expression);
  try {
    return JSON.parse(JSON.stringify(await expression.evaluate(body, { headers, status, text }))) as unknown;
  } catch {
    return undefined;
  }
}

function pointedAt(body: unknown, pointer: string): unknown {
  const names = pointer.split('/').slice(1);
  return names.reduce<unknown>((here, escaped) => {
    const name = escaped.replaceAll('~1', '/').replaceAll('~0', '~');
    return typeof here === 'object' && here !== null ? Object.getOwnPropertyDescriptor(here, name)?.value : undefined;
  }, body);
}
