/** A dot at its beginning would be a step in a path, `=` one in a spreadsheet. */
const REST = /^[A-Za-z0-9_-][A-Za-z0-9_.~:=@+,-]{0,249}$/;
const ADDRESS = /^(?:https?:\/\/|\/)/i;
/** Zero and less are what programs write for "none"; as a text, too, for a number of many digits comes as one. */
const NONE = /^(?:0+|-\d+)$/;
/** A longer text is no id and no address of one. */
const LONGEST = 2_048;
const ANYWHERE = 'http://service.invalid';

/**
 * An id of the service: text, a whole number from 1, or the last step of an address or absolute path; null: it cannot be used.
 * A text that is a whole number is one from 1, too.
 * It must begin with the prefix and go on with 1 to 250 characters that stand in a path as they are, or encoded.
 */
export function readId(value: unknown, prefix: string): string | null {
  const id = textOf(value);
  return id?.startsWith(prefix) === true && !NONE.test(id) && REST.test(id.slice(prefix.length)) ? id : null;
}

function textOf(value: unknown): string | null {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? String(value) : null;
  if (typeof value !== 'string' || value.length > LONGEST) return null;
  return ADDRESS.test(value) ? lastStep(value) : value;
}

/** Where an address has a query, the id may stand there, and the last step is that of a collection. */
function lastStep(address: string): string | null {
  if (!URL.canParse(address, ANYWHERE)) return null;
  const { pathname, search } = new URL(address, ANYWHERE);
  return search === '' ? (pathname.split('/').findLast((step) => step !== '') ?? null) : null;
}
