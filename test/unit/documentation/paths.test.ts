import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const PATH = /`((?:src|workflows|activities|test|bench|docs)\/[^`\s]*)`/gu;
const LINK = /\]\((?!\w+:)([^)#\s]+)(?:#[^)]*)?\)/gu;

const documents = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.md'))
  .map((name) => ({ name: join('docs', name), text: readFileSync(join(ROOT, 'docs', name), 'utf8') }));

function found(text: string, pattern: RegExp): readonly string[] {
  return [...text.matchAll(pattern)].map(([, path]) => path ?? '');
}

describe('the Markdown files of docs/', () => {
  it('are read, with the decisions among them', () => {
    expect(documents.map(({ name }) => name)).toContain(join('docs', 'decisions', 'sending.md'));
    expect(documents.flatMap(({ text }) => found(text, PATH)).length).toBeGreaterThan(100);
  });

  it.each(documents)('name only paths that exist in $name', ({ text }) => {
    expect(found(text, PATH).filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  it.each(documents)('link only to files that exist from $name', ({ name, text }) => {
    expect(found(text, LINK).filter((path) => !existsSync(join(ROOT, dirname(name), path)))).toEqual([]);
  });
});
