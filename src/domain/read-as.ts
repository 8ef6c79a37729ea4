/** How the numbers of a corrections file were read, and through which profile: what its rows alone may not prove any more. */
export interface ReadAs {
  readonly quantity?: '.' | ',';
  readonly unit_price?: '.' | ',';
  readonly profile?: string;
}

/** Column (CSV) or member (JSON) of a corrections file that carries it; there only when it is needed. */
export const READ_AS = 'lote_read_as';

const WORD = { '.': 'point', ',': 'comma' } as const;

/** `quantity=comma unit_price=point profile=erp`; empty when there is nothing to say. */
export function readAsText({ quantity, unit_price, profile }: ReadAs): string {
  return [
    ...(quantity === undefined ? [] : [`quantity=${WORD[quantity]}`]),
    ...(unit_price === undefined ? [] : [`unit_price=${WORD[unit_price]}`]),
    ...(profile === undefined ? [] : [`profile=${profile}`]),
  ].join(' ');
}

export function parseReadAs(text: string): ReadAs {
  const quantity = markOf(/\bquantity=(point|comma)\b/.exec(text)?.[1]);
  const price = markOf(/\bunit_price=(point|comma)\b/.exec(text)?.[1]);
  const profile = /\bprofile=([a-z0-9][a-z0-9_-]*)/.exec(text)?.[1];
  return {
    ...(quantity === undefined ? {} : { quantity }),
    ...(price === undefined ? {} : { unit_price: price }),
    ...(profile === undefined ? {} : { profile }),
  };
}

function markOf(word: string | undefined): '.' | ',' | undefined {
  return word === undefined ? undefined : word === 'comma' ? ',' : '.';
}
