import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { overBudget } from '../../../../.ci/house/budgets.ts';
import { byFolder, undocumentedExports } from '../../../../.ci/house/docstrings.ts';
import { crowdedFolders } from '../../../../.ci/house/folders.ts';
import { lengthsOf } from '../../../../.ci/house/function-length.ts';
import { LONGEST_FUNCTION, MOST_ENTRIES, SORTED } from '../../../../.ci/house/limits.ts';
import { anchorsOf, brokenLinks, markdownPages } from '../../../../.ci/house/links.ts';
import { judge } from '../../../../.ci/house/ratchet.ts';
import { parsed } from '../../../../.ci/house/sources.ts';
import { holds, namesWith } from '../../../../.ci/house/vocabulary.ts';

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'lote-house-'));
  for (const folder of SORTED) mkdirSync(join(root, folder), { recursive: true });
});

afterEach(() => {
  rmSync(root, { recursive: true, force: true });
});

function write(path: string, text = ''): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

describe('the check of folders', () => {
  it('names a folder with too many entries at any depth, and no folder at the limit', () => {
    for (let file = 0; file < MOST_ENTRIES; file += 1) write(`src/full/${file}.ts`);
    for (let file = 0; file <= MOST_ENTRIES; file += 1) write(`test/unit/deep/${file}.ts`);

    expect(crowdedFolders(root)).toEqual([
      expect.stringContaining(`test/unit/deep has ${MOST_ENTRIES + 1} entries, at most ${MOST_ENTRIES}`),
    ]);
  });
});

describe('the budget of a room', () => {
  it('names a room with more files or lines than it may hold, and one without a budget', () => {
    for (const room of ['activities', 'workflows', 'src/ledger', 'src/new']) write(`${room}/deep/a.ts`, 'one\ntwo\n');
    const budget = { files: 1, lines: 2 };

    expect(
      overBudget(root, {
        activities: budget,
        workflows: { ...budget, lines: 1 },
        'src/ledger': { ...budget, files: 0 },
      }),
    ).toEqual([
      expect.stringMatching(/^src\/ledger has 1 files and 2 lines, its budget is 0 and 2/),
      expect.stringMatching(/^src\/new has no budget/),
      expect.stringMatching(/^workflows has 1 files and 2 lines, its budget is 1 and 1/),
    ]);
  });
});

describe('the check of Markdown links', () => {
  it('finds files and headings that are not there', () => {
    write('README.md', '# Lote\n[a](docs/a.md#two-words) [b](docs/b.md) [c](docs/a.md#three) [d](#lote) [e](#none)');
    write('docs/a.md', '# A\n## Two words\n![gone](gone.png) [up](../README.md) [out](../../etc/passwd)');

    expect(brokenLinks(root, markdownPages(root))).toEqual([
      'README.md: the link to docs/b.md leads nowhere: there is no docs/b.md',
      'README.md: the link to docs/a.md#three leads nowhere: docs/a.md has no heading "#three"',
      'README.md: the link to #none leads nowhere: README.md has no heading "#none"',
      'docs/a.md: the link to gone.png leads nowhere: there is no docs/gone.png',
      'docs/a.md: the link to ../../etc/passwd leads nowhere: it leaves the repository',
    ]);
  });

  it('asks no other host, and takes no code for a link', () => {
    write('README.md', '[a](https://example.com/x) <b@example.com>\n`[c](gone.md)`\n```\n[d](gone.md)\n```\n');

    expect(brokenLinks(root, markdownPages(root))).toEqual([]);
  });

  it('makes anchors as GitHub does', () => {
    const anchors = anchorsOf('# A `b` & c: [d](e.md)\n## Same\n## Same\n```\n# no heading\n```\n## Três_e é');

    expect([...anchors]).toEqual(['a-b--c-d', 'same', 'same-1', 'três_e-é']);
  });
});

describe('the check of docstrings', () => {
  const file = (path: string, text: string) => parsed(path, text);

  it('names exports of every kind that others import, and counts them by folder', () => {
    const exporting = file(
      'src/domain/all.ts',
      `export function f() {}\nexport class C {}\nexport interface I {}\nexport type T = 1;\nexport const k = 1;\nexport const alone = 1;`,
    );
    const importing = file(
      'activities/user.ts',
      `import { f, C as D, k, type I, type T } from '../src/domain/all.ts';`,
    );
    const names = undocumentedExports([exporting, importing]);

    expect(names).toEqual(['f', 'C', 'I', 'T', 'k'].map((name) => `src/domain/all.ts ${name}`));
    expect(byFolder(names)).toEqual({ 'src/domain': 5 });
  });
});

describe('the check of old words', () => {
  it.each([
    ['createDoor', 'door', true],
    ['indoors', 'door', false],
  ])('of %s and %s says %s', (name, word, held) => {
    expect(holds(name, word)).toBe(held);
  });

  it('finds identifiers, not comments and texts', () => {
    const source = parsed(
      'src/a/b.ts',
      `// the door\nconst text = 'door';\nconst shut = { doorkeeper: 1 };\n/** door */`,
    );

    expect(namesWith(['door', 'doorkeeper', 'text'], [source])).toEqual({
      door: [],
      doorkeeper: ['doorkeeper'],
      text: ['text'],
    });
  });
});

describe('the check of function lengths', () => {
  it('reads the lines out of what the linter says, and refuses to guess', () => {
    const said = (message: string) => JSON.stringify({ diagnostics: [{ filename: 'src/a.ts', message }] });

    expect(lengthsOf(said('The function `f` has too many lines (77). Maximum allowed is 60.'), '')).toEqual({
      'src/a.ts f': 77,
    });
    expect(() => lengthsOf(said('Something new.'), '')).toThrow('the linter said something else: Something new.');
    expect(() => lengthsOf('', 'no such file')).toThrow('must answer in JSON, found  no such file');
  });

  it('has one limit in both places', () => {
    const config = readFileSync(new URL('../../../../.ci/house/function-length.json', import.meta.url), 'utf8');

    expect(config).toContain(`"max": ${LONGEST_FUNCTION},`);
  });
});

describe('a ratchet', () => {
  it('lets a count fall and never rise, and knows nothing that was not recorded', () => {
    expect(judge({ a: 2, b: 1, c: 1 }, { a: 3, b: 1, d: 1 })).toEqual({ grown: ['a', 'd'], fell: ['c'] });
  });
});
