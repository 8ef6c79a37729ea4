import type { Node } from 'jsonc-parser';
import { isPlainObject } from '../../domain/plain-object.ts';
import { positionAt } from './file-position.ts';
import type { ProfileMistake, ProfilePath } from './profile-mistake.ts';
import { isMistake, readProfileFile } from './read-profile-file.ts';

/** Stands for a text that is not shown. */
export const NOT_SHOWN = '(not shown)';

/** The prefix alone is none: it says how secrets begin. */
const BEGINS_AS_SECRET = /^(?:sk_|pk_|whsec_|bearer |basic )./i;
const IN_ADDRESS = /\/\/[^/@\s]*:[^/@\s]*@/;
/** Anywhere in the file, also in a comment. */
const KEY_IN_TEXT = /\b(?:[sp]k_(?:live|test)_\w{8,}|whsec_[\w+/=-]{16,})/g;
const CREDENTIAL_HEADER =
  /(?:^|[-_.])(?:(?:api|app|access|auth|subscription|functions)[-_]?key|auth|token|secret|cookie|password|authorization|credentials?)$/i;
/** More are not read at once, and finding the place of each takes time. */
const MOST_FOUND = 100;
/** Shorter ones stand in texts by chance. */
const SHORTEST_KNOWN = 8;

const NO_SECRET =
  'must hold no secret: keys and secrets belong in the environment (INVOICING_API_KEY, WEBHOOK_SECRET), and this text looks like one';

/** Whether a text of a profile looks like a secret, by itself or by the header that it is for. */
function looksSecret(text: string, path: ProfilePath): boolean {
  const [section, key, name] = path;
  const forHeader = section === 'requests' && key === 'headers' && CREDENTIAL_HEADER.test(String(name ?? ''));
  return (forHeader && text !== '') || BEGINS_AS_SECRET.test(text) || IN_ADDRESS.test(text);
}

/** A value of a profile in which `(not shown)` stands for each text that looks like a secret. */
export function withoutSecrets(value: unknown, path: ProfilePath): unknown {
  if (Array.isArray(value)) return value.map((one: unknown, index) => withoutSecrets(one, [...path, index]));
  if (isPlainObject(value))
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, withoutSecrets(one, [...path, key])]));
  return typeof value === 'string' && looksSecret(value, path) ? NOT_SHOWN : value;
}

/** What of a profile's file looks like a secret, holds one of the known ones, or was not shown: at most 100, one a line; none where the file is no JSON. */
export function secretMistakes(source: string, known: readonly string[]): readonly ProfileMistake[] {
  const file = readProfileFile(source);
  if (isMistake(file)) return [];
  const { text, tree } = file;
  const found: ProfileMistake[] = [];
  const say = (offset: number, message: string, path: ProfilePath): void => {
    if (found.length >= MOST_FOUND) return;
    const position = positionAt(text, offset);
    if (!found.some(({ line }) => line === position.line)) found.push({ path, message, suggestion: null, ...position });
  };
  for (const { node, path } of textsIn(tree, [])) {
    const value = String(node.value);
    if (value === NOT_SHOWN) say(node.offset, `must be what it was before: ${NOT_SHOWN} only stands for it`, path);
    else if (looksSecret(value, path) || known.some((secret) => holds(value, secret)))
      say(node.offset, NO_SECRET, path);
  }
  for (const match of text.matchAll(KEY_IN_TEXT)) say(match.index, NO_SECRET, []);
  for (const secret of known) if (holds(text, secret)) say(text.indexOf(secret), NO_SECRET, []);
  return found;
}

/** Whether a text holds a known secret. */
function holds(text: string, secret: string): boolean {
  return secret.length >= SHORTEST_KNOWN && text.includes(secret);
}

function textsIn(node: Node, path: ProfilePath): readonly { readonly node: Node; readonly path: ProfilePath }[] {
  const children = node.children ?? [];
  if (node.type === 'string') return [{ node, path }];
  if (node.type === 'array') return children.flatMap((child, index) => textsIn(child, [...path, index]));
  return children.flatMap(({ children: [key, value] = [] }) =>
    key === undefined || value === undefined ? [] : textsIn(value, [...path, String(key.value)]),
  );
}
