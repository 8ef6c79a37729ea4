import { statSync, readdirSync, readFileSync, existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../../src/cli/output/exit-codes.ts';
import { TRANSITIONS } from '../../../docs/picture/state-graph.ts';
import { INVOICE_STATES, type InvoiceState, BATCH_ONLY_OUTCOMES } from '../../../src/domain/invoice-state.ts';
import { COLUMNS } from '../../../src/domain/row.ts';
import { pageText, README, tableAfter } from '../../support/lote/readme.ts';
import { HOPS } from '../../../docs/picture/boxes.ts';
import { dataFlow } from '../../../docs/picture/data-flow.ts';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { anchorsOf, markdownPages } from '../../../.ci/house/links.ts';
import { DEFAULT_PROFILE } from '../../../src/service/profile/profile.ts';
import { keyPaths, profileJsonSchema, settingsOf } from '../../../src/service/profile/json-schema.ts';
import { loadProfile } from '../../../src/service/profile/check-profile.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
/** Where the page says more of a key. */
const LINK_TO_DETAILS = / \(\[below\]\(#[^)]+\)\)/;
const plain = (cell = ''): string => cell.replaceAll('`', '');

describe('the exit codes of docs/operating.md', () => {
  it('lists the codes that commands end with', () => {
    const rows = tableAfter(pageText('docs/operating.md'), '## Exit codes');

    expect(Object.fromEntries(rows.map(([code, name]) => [plain(name), Number(plain(code))]))).toEqual(EXIT);
  });
});

describe('the transitions in docs/architecture.md', () => {
  it('lists the moves of an invoice, each with the states that it leads from and to', () => {
    const rows = tableAfter(pageText('docs/architecture.md'), '### Transitions');
    const statesIn = (cell = '') => INVOICE_STATES.filter((state) => cell.includes(`\`${state}\``));
    const moves = Object.entries<{ readonly from: readonly InvoiceState[]; readonly to: InvoiceState }>(TRANSITIONS);

    expect(
      Object.fromEntries(rows.map(([move = '', from, to]) => [move, { from: statesIn(from), to: statesIn(to) }])),
    ).toEqual(
      Object.fromEntries(
        moves.map(([move, { from, to }]) => [
          move,
          { from: INVOICE_STATES.filter((state) => from.includes(state)), to: [to] },
        ]),
      ),
    );
  });
});

describe('docs/service-profile.md', () => {
  const page = pageText('docs/service-profile.md');

  it('shows the default profile', () => {
    const shown = /^```json\n([^]*?)^```$/mu.exec(page)?.[1] ?? '';

    expect(JSON.parse(shown)).toEqual(DEFAULT_PROFILE);
  });

  it("explains each key once, in the schema's own words", () => {
    const rows = tableAfter(page, '## Keys').map(([name = '', meaning = '']) => [plain(name), meaning] as const);
    const keys = [...keyPaths(profileJsonSchema())].filter(([key]) => key !== '$schema');

    expect(rows.map(([key]) => key).toSorted()).toEqual(keys.map(([key]) => key).toSorted());
    expect(Object.fromEntries(rows.map(([key, meaning]) => [key, meaning.replace(LINK_TO_DETAILS, '')]))).toEqual(
      Object.fromEntries(keys.map(([key, { description }]) => [key, description])),
    );
  });

  const examples = [...(page.split('\n## Examples\n')[1] ?? '').matchAll(/^### (.+)\n[^]*?^```json\n([^]*?)^```$/gmu)];

  it('has ten examples', () => {
    expect(examples).toHaveLength(10);
  });

  it.each(examples.map(([, title, text]) => [title ?? '', text ?? ''] as const))(
    'has a valid example: %s',
    (_, text) => {
      expect(settingsOf(loadProfile(text)).some(({ differs }) => differs)).toBe(true);
    },
  );
});

describe('docs/files.md', () => {
  it('explains each column', () => {
    const named = tableAfter(pageText('docs/files.md'), '## Columns').flatMap(([names]) => plain(names).split(', '));

    expect(named.toSorted()).toEqual([...COLUMNS].toSorted());
  });
});

describe('README.md', () => {
  it('is short, and shows screenshots that load fast', () => {
    expect(README.split('\n').length).toBeLessThanOrEqual(150);
    for (const name of ['console', 'report']) {
      expect(README).toContain(`(docs/screenshots/${name}.png)`);
      expect(statSync(new URL(`../../../docs/screenshots/${name}.png`, import.meta.url)).size).toBeLessThan(300_000);
    }
  });
});

describe('docs/architecture.md', () => {
  const page = pageText('docs/architecture.md');

  it('says of each folder of the product what it is for', () => {
    const below = readdirSync(join(ROOT, 'src'), { withFileTypes: true }).filter((one) => one.isDirectory());

    for (const folder of [...below.map(({ name }) => `src/${name}`), 'workflows', 'activities'])
      expect(page, folder).toMatch(new RegExp(`^\\| \`${folder}\` \\| .{10,}`, 'mu'));
  });

  it('tells the way of an invoice in ten steps', () => {
    expect(page.match(/^\| \d+\. /gmu)).toHaveLength(10);
  });
});

const words = tableAfter(pageText('docs/architecture.md'), '## Glossary').map(([word = '']) => word);

describe('the glossary of docs/architecture.md', () => {
  it('is alphabetical, without a word twice', () => {
    const spelled = words.map((word) => word.toLowerCase().replaceAll('-', ' '));

    expect(spelled).toEqual([...new Set(spelled)].toSorted());
  });

  it('explains each state of an invoice and each outcome of a report', () => {
    expect(words).toEqual(expect.arrayContaining([...INVOICE_STATES, ...BATCH_ONLY_OUTCOMES]));
  });

  it('is linked from README.md, and has at most 60 words', () => {
    expect(README).toContain('(docs/architecture.md#glossary)');
    expect(words.length).toBeLessThanOrEqual(60);
  });
});

const workflowTexts = readdirSync(join(ROOT, 'workflows'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => readFileSync(join(ROOT, 'workflows', name), 'utf8'))
  .join('\n');

describe('docs/picture/data-flow.svg', () => {
  it('is what `npm run picture` draws from the code of now', async () => {
    await expect(dataFlow()).toMatchFileSnapshot('../../../docs/picture/data-flow.svg');
  });

  it('shows each state and each move of the ledger', () => {
    const picture = dataFlow();

    for (const state of INVOICE_STATES) expect(picture).toContain(`>${state}</text>`);
    for (const move of Object.keys(TRANSITIONS)) expect(picture).toMatch(new RegExp(`>(?:[a-z, ]+)?${move}\\b`, 'u'));
  });

  it('names activities that the workflows really take', () => {
    for (const name of HOPS.flatMap(({ activities }) => activities))
      expect(workflowTexts, name).toContain(`labelled('${name}', `);
  });

  it('is the picture that README.md shows', () => {
    expect(README).toMatch(/!\[[^\]]{20,}\]\(docs\/picture\/data-flow\.svg\)/u);
  });
});

const PATH = /`((?:src|workflows|activities|test|bench|docs)\/[^`\s]*|input\/profiles)`/gu;
/** A page, and its heading, as error texts, help, alerts and comments name them. */
const NAMED_PAGE = /\b(docs\/[\w/-]+\.md)(?:#([\w-]+))?/gu;

const documents = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.md'))
  .map((name) => ({ name: join('docs', name), text: readFileSync(join(ROOT, 'docs', name), 'utf8') }));

function pathsIn(text: string): readonly string[] {
  return [...text.matchAll(PATH)].map(([, path]) => path ?? '');
}

describe('the Markdown files of docs/', () => {
  it('are read, with the decisions among them', () => {
    expect(documents.map(({ name }) => name)).toContain(join('docs', 'decisions.md'));
    expect(documents.flatMap(({ text }) => pathsIn(text)).length).toBeGreaterThan(100);
  });

  it.each(documents)('name only paths that exist in $name', ({ text }) => {
    expect(pathsIn(text).filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
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
