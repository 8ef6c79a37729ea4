/** Where something stands: a JSON Pointer, `header:NAME`, `text`, `jsonata:EXPRESSION`, or a list of them. */
export type Place = string | readonly string[];

/** One place at which the sandbox writes. */
export type WrittenPlace =
  | { readonly kind: 'pointer'; readonly steps: readonly string[] }
  | { readonly kind: 'header'; readonly name: string }
  | { readonly kind: 'text' };

const EXPRESSION = 'jsonata:';
const HEADER = 'header:';

/** The places of a list at which something can be written: all but expressions, in their order. */
export function writtenPlaces(place: Place): readonly WrittenPlace[] {
  return [place]
    .flat()
    .filter((one) => !one.startsWith(EXPRESSION))
    .map(parsed);
}

/** The first of them; null: the place is an expression and nothing else. */
export function writtenPlace(place: Place): WrittenPlace | null {
  return writtenPlaces(place)[0] ?? null;
}

function parsed(place: string): WrittenPlace {
  if (place === 'text') return { kind: 'text' };
  if (place.startsWith(HEADER)) return { kind: 'header', name: place.slice(HEADER.length).trim() };
  const steps = place.split('/').slice(1);
  return { kind: 'pointer', steps: steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~')) };
}
