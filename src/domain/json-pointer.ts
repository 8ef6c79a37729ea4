const POINTER = /^(?:\/(?:[^~/]|~[01])*)*$/;

/** True for a JSON Pointer (RFC 6901): empty for the whole document, otherwise steps separated by `/`. */
export function isJsonPointer(text: string): boolean {
  return POINTER.test(text);
}

/** Returns the value at a JSON Pointer, or undefined. Reads own properties only, because an answer must not reach a prototype. */
export function readPointer(document: unknown, pointer: string): unknown {
  let here = document;
  for (const step of steps(pointer)) {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, step)) return undefined;
    if (Array.isArray(here) && !/^(?:0|[1-9]\d*)$/.test(step)) return undefined;
    here = (here as Record<string, unknown>)[step];
  }
  return here;
}

function steps(pointer: string): readonly string[] {
  if (pointer === '') return [];
  const written = pointer.slice(1).split('/');
  return pointer.includes('~') ? written.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~')) : written;
}

/** Returns the JSON Pointer of a member of the value at another JSON Pointer. */
export function memberPointer(above: string, name: string): string {
  return `${above}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** True if a value parsed from JSON is an object and not a list. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
