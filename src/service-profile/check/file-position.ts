import { findNodeAtLocation, type Node } from 'jsonc-parser';
import type { ProfileMistake, ProfilePath, UnplacedMistake } from './profile-mistake.ts';

/** A place in a text, counted from 1. */
export interface FilePosition {
  readonly line: number;
  readonly column: number;
}

/** The line and column of an offset. */
export function positionAt(text: string, offset: number): FilePosition {
  const before = text.slice(0, offset);
  const lineStart = before.lastIndexOf('\n') + 1;
  return { line: before.split('\n').length, column: before.length - lineStart + 1 };
}

/** The mistake with its place in the file: the value's, or the key's, or that of what stands nearest above it. */
export function placed({ isKey, ...mistake }: UnplacedMistake, text: string, tree: Node): ProfileMistake {
  const value = nodeAt(tree, mistake.path);
  const node = isKey === true ? (value?.parent?.children?.[0] ?? value) : value;
  const position = node === null ? { line: null, column: null } : positionAt(text, node.offset);
  return { ...mistake, ...position };
}

function nodeAt(tree: Node, path: ProfilePath): Node | null {
  for (let length = path.length; length > 0; length -= 1) {
    const node = findNodeAtLocation(tree, [...path.slice(0, length)]);
    if (node !== undefined) return node;
  }
  return path.length === 0 ? tree : null;
}
