import { eachOf, formOf, isObject, partsOf, soleOf, textsOf, type Placeholder } from './template.ts';

/** Why the values cannot be read back out of a body by this template, as a sentence; null: they can. */
export function unreadableTemplate(template: unknown, key: string): string | null {
  const known = knownNames(template);
  for (const text of textsOf(template)) {
    if (soleOf(text) === null && isAmbiguous(partsOf(text), known))
      return `${key} holds ${JSON.stringify(text)}, in which nobody can tell where one value ends and the next begins: put a character between them that neither holds, or give each a member of its own.`;
  }
  return hasAmbiguousList(template)
    ? `${key} has a list with several values that an invoice need not have, and nobody can tell which one is missing: put them into an object.`
    : null;
}

/** Names of which another text says the value: alone, or with constants around it. */
function knownNames(template: unknown): ReadonlySet<string> {
  const names = textsOf(template).map((text) => new Set(partsOf(text).flatMap(nameOf)));
  return new Set(names.filter(({ size }) => size === 1).flatMap((one) => [...one]));
}

function nameOf(part: string | Placeholder): readonly string[] {
  return typeof part === 'string' ? [] : [part.name];
}

function isAmbiguous(parts: readonly (string | Placeholder)[], known: ReadonlySet<string>): boolean {
  const names = new Set(parts.flatMap(nameOf));
  const unknown = [...names].filter((name) => !known.has(name));
  if (names.size < 2 || unknown.length < 2) return false;
  if (unknown.filter((name) => formOf(name).letters === null).length > 1) return true;
  const open = parts.map((part, index) => (typeof part !== 'string' && unknown.includes(part.name) ? index : -1));
  const places = open.filter((index) => index >= 0);
  return places.some((at, index) => {
    const next = places[index + 1];
    return next !== undefined && !isSeparated(parts.slice(at, next + 1));
  });
}

/** Whether plain text between two values has a character that one of them cannot hold. */
function isSeparated([before, ...rest]: readonly (string | Placeholder)[]): boolean {
  const after = rest.at(-1);
  const between = rest
    .slice(0, -1)
    .filter((part) => typeof part === 'string')
    .join('');
  return [before, after].some((part) => {
    const letters = typeof part === 'object' ? formOf(part.name).letters : null;
    return letters !== null && Array.from(between).some((character) => !letters.test(character));
  });
}

function hasAmbiguousList(node: unknown): boolean {
  if (Array.isArray(node)) {
    const each = eachOf(node);
    if (each !== null) return hasAmbiguousList(each);
    const optional = node.filter((one) => formOf(soleOf(one)?.name ?? '').optional);
    return optional.length > 1 || node.some(hasAmbiguousList);
  }
  return isObject(node) && Object.values(node).some(hasAmbiguousList);
}
