import { differencesBetween } from './check/differences.ts';
import { withoutSecrets } from './check/secret-texts.ts';
import { DEFAULT_PROFILE } from './default-profile.ts';
import type { ServiceProfile } from './profile.ts';
import { settingsOf } from './settings.ts';

const LONGEST_COMMENT = 110;

interface Branch {
  readonly below: Map<string, Branch>;
  /** Of a setting: its JSON and its words. */
  leaf: { readonly value: unknown; readonly words: string } | null;
}

/**
 * A profile as the text of a file to edit: what differs from the default, each setting below its words as a comment. Texts that look like
 * secrets are not in it.
 */
export function profileCopy(profile: ServiceProfile): string {
  const words = new Map(settingsOf(profile).map((one) => [one.key, one.words]));
  const root = branch();
  for (const { key, after } of differencesBetween(DEFAULT_PROFILE, profile)) {
    const path = key.split('.');
    let here = root;
    for (const step of path) here = childOf(here, step);
    here.leaf = { value: withoutSecrets(after, path), words: words.get(key) ?? '' };
  }
  const lines = ['{', '  // Only what differs from the default stands here.', ...linesOf(root, '  '), '}'];
  return `${lines.join('\n')}\n`;
}

function branch(): Branch {
  return { below: new Map(), leaf: null };
}

function childOf(parent: Branch, step: string): Branch {
  const child = parent.below.get(step) ?? branch();
  parent.below.set(step, child);
  return child;
}

function linesOf({ below }: Branch, indent: string): readonly string[] {
  return [...below].flatMap(([name, child], index) => {
    const comma = index === below.size - 1 ? '' : ',';
    const key = `${indent}${JSON.stringify(name)}: `;
    if (child.leaf === null) return [`${key}{`, ...linesOf(child, `${indent}  `), `${indent}}${comma}`];
    const value = JSON.stringify(child.leaf.value, null, 2).replaceAll('\n', `\n${indent}`);
    return [...comment(child.leaf.words, `${indent}// `), `${key}${value}${comma}`];
  });
}

/** A comment in lines of some 110 characters. */
function comment(text: string, indent: string): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(' ').filter((one) => one !== '')) {
    const last = lines.at(-1);
    if (last === undefined || indent.length + last.length + word.length >= LONGEST_COMMENT) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines.map((line) => `${indent}${line}`);
}
