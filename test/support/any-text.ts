import fc from 'fast-check';

const FIRST_SURROGATE = 0xd800;
const SURROGATES = 0x800;
const LAST = 0x10ffff - SURROGATES;

const character = fc.nat(LAST).map(
  (place) => String.fromCodePoint(place < FIRST_SURROGATE ? place : place + SURROGATES),
  (value) => {
    const code = typeof value === 'string' ? (value.codePointAt(0) ?? Number.NaN) : Number.NaN;
    const isSurrogate = code >= FIRST_SURROGATE && code < FIRST_SURROGATE + SURROGATES;
    if (Number.isNaN(code) || isSurrogate || String.fromCodePoint(code) !== value)
      throw new Error('Expected a text of one character');
    return code < FIRST_SURROGATE ? code : code - SURROGATES;
  },
);

/**
 * Generates any text of whole characters: the values of `fc.string({ unit: 'binary' })`, which needs a second and much
 * memory to make a table of all million characters.
 */
export function anyText(
  limits: { readonly minLength?: number; readonly maxLength?: number } = {},
): fc.Arbitrary<string> {
  return fc.string({ ...limits, unit: character });
}
