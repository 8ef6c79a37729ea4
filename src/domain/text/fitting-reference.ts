/** In UTF-16 units: at most 600 bytes. An index of PostgreSQL takes no more than 2,704 bytes, and a longer reference is no reference. */
export const LONGEST_REFERENCE = 200;

const HALF_PAIR = /\p{Surrogate}$/u;

/** What is shown and kept of the reference of an invalid invoice: its beginning, where the whole is too long to be a reference. */
export function fittingReference(ref: string): string {
  if (ref.length <= LONGEST_REFERENCE) return ref;
  return `${ref.slice(0, LONGEST_REFERENCE - 1).replace(HALF_PAIR, '')}…`;
}
