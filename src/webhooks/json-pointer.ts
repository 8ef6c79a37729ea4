/** What stands at a JSON Pointer (RFC 6901), or undefined. Own properties only: a payload must not reach a prototype. */
export function readPointer(document: unknown, pointer: string): unknown {
  let here = document;
  for (const step of pointer.split('/').slice(1)) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, name)) return undefined;
    here = (here as Record<string, unknown>)[name];
  }
  return here;
}
