import { basename } from 'node:path';
import ts from 'typescript';
import type { Source } from './sources.ts';

/** Names of the sources that hold one of the words: identifiers, and paths of files; each once, by word. */
export function namesWith(
  words: readonly string[],
  sources: readonly Source[],
): Readonly<Record<string, readonly string[]>> {
  const names = new Set(sources.flatMap((source) => [source.fileName, ...identifiersOf(source)]));
  return Object.fromEntries(words.map((word) => [word, [...names].filter((name) => holds(name, word))]));
}

/** `createDoor` holds `door`, `askAllNow` holds `askAll`; `indoors` holds neither. */
export function holds(name: string, word: string): boolean {
  return `-${partsOf(basename(name))}-`.includes(`-${partsOf(word)}-`);
}

/** Joined by `-`, in small letters: `nightBook`, `NIGHT_BOOK` and `night-book.ts` begin alike. */
function partsOf(name: string): string {
  return name
    .replaceAll(/([a-z0-9])([A-Z])|([A-Z])(?=[A-Z][a-z])/gu, '$1$3-$2')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/gu, '-');
}

function identifiersOf(source: Source): readonly string[] {
  const found = new Set<string>();
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node)) found.add(node.text);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return [...found];
}
