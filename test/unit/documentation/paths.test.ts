import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { anchorsOf, markdownPages } from '../../../.ci/house/links.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const PATH = /`((?:src|workflows|activities|test|bench|docs)\/[^`\s]*)`/gu;
/** A page, and its heading, as error texts, help, alerts and comments name them. */
const NAMED_PAGE = /\b(docs\/[\w/-]+\.md)(?:#([\w-]+))?/gu;
const LINK = /\]\((?!\w+:)([^)#\s]+)(?:#[^)]*)?\)/gu;

const documents = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.md'))
  .map((name) => ({ name: join('docs', name), text: readFileSync(join(ROOT, 'docs', name), 'utf8') }));

function found(text: string, pattern: RegExp): readonly string[] {
  return [...text.matchAll(pattern)].map(([, path]) => path ?? '');
}

describe('the Markdown files of docs/', () => {
  it('are read, with the decisions among them', () => {
    expect(documents.map(({ name }) => name)).toContain(join('docs', 'decisions.md'));
    expect(documents.flatMap(({ text }) => found(text, PATH)).length).toBeGreaterThan(100);
  });

  it.each(documents)('name only paths that exist in $name', ({ text }) => {
    expect(found(text, PATH).filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  it.each(documents)('link only to files that exist from $name', ({ name, text }) => {
    expect(found(text, LINK).filter((path) => !existsSync(join(ROOT, dirname(name), path)))).toEqual([]);
  });
});

describe('all pages', () => {
  const pages = markdownPages(ROOT);

  it('have at most 36,000 words, and the changelog 12 kB, so that each can be read', () => {
    const words = pages.map(({ path, text }) => ({ path, words: text.split(/\s+/u).length }));
    const changelog = pages.find(({ path }) => path === 'CHANGELOG.md');

    expect(
      words.reduce((sum, one) => sum + one.words, 0),
      JSON.stringify(words),
    ).toBeLessThanOrEqual(36_000);
    expect(Buffer.byteLength(changelog?.text ?? '')).toBeLessThanOrEqual(12_000);
  });
});

describe('what the product and its deployment print', () => {
  const files = ['src', 'workflows', 'activities', 'deploy', 'docs'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
      .filter((one) => one.isFile() && /\.(?:ts|ya?ml|json|txt|sh)$/u.test(one.name))
      .map((one) => join(one.parentPath, one.name)),
  );

  it('names only pages and headings that exist', () => {
    const named = files.flatMap((file) => [...readFileSync(file, 'utf8').matchAll(NAMED_PAGE)]);
    const missing = named.filter(([, page = '', heading]) => {
      const path = join(ROOT, page);
      return !existsSync(path) || (heading !== undefined && !anchorsOf(readFileSync(path, 'utf8')).has(heading));
    });

    expect(named.length).toBeGreaterThan(30);
    expect(missing.map(([text]) => text)).toEqual([]);
  });
});
