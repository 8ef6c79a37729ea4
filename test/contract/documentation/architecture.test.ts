import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { folderImports } from '../../../docs/picture/folder-imports.ts';
import { folderMap } from '../../../docs/picture/folder-map.ts';

const CHECKOUT = new URL('../../../', import.meta.url);
const PAGE = readFileSync(new URL('docs/architecture.md', CHECKOUT), 'utf8');
const PRODUCT = ['src', 'workflows', 'activities'];
/** Cruising the product takes some seconds of CPU: once for all tests. */
const imports = folderImports();

/** What stands between backticks and begins like a path of the product or the docs. */
const paths = [...PAGE.matchAll(/`((?:src|workflows|activities|docs|test|input)(?:\/[\w.-]+)+)`/gu)].map(
  ([, path]) => path ?? '',
);

/** Each folder below these, by its path; those of drivers, migrations and HTML parts are named with their parent. */
function foldersOf(folder: string, depth: number): readonly string[] {
  const below = readdirSync(new URL(`${folder}/`, CHECKOUT), { withFileTypes: true }).filter((one) =>
    one.isDirectory(),
  );
  const names = below.map(({ name }) => `${folder}/${name}`);
  return depth === 1 ? names : [...names, ...names.flatMap((name) => foldersOf(name, depth - 1))];
}

describe('docs/picture/folders.svg', () => {
  it('is what `npm run picture` draws from the imports of now', async () => {
    await expect(folderMap(imports)).toMatchFileSnapshot('../../../docs/picture/folders.svg');
  });

  it('has a place for each first-level folder', () => {
    const picture = folderMap(imports);
    const names = [...foldersOf('src', 1).map((path) => path.slice('src/'.length)), 'workflows/', 'activities/'];

    for (const name of names) expect(picture).toContain(`>${name}</text>`);
  });

  it('refuses an import that leads upwards, and a folder without a place', () => {
    const upwards = { from: 'domain', to: 'ledger', typesOnly: false };
    const unknown = { from: 'cli', to: 'attic', typesOnly: false };

    expect(() => folderMap([upwards])).toThrow('domain imports ledger, which stands above it');
    expect(() => folderMap([unknown])).toThrow('attic has no place');
  });
});

describe('docs/architecture.md', () => {
  it('names files and folders that exist', () => {
    const missing = paths.filter((path) => !existsSync(fileURLToPath(new URL(path, CHECKOUT))));

    expect(paths.length).toBeGreaterThan(100);
    expect(missing).toEqual([]);
  });

  it('says of each folder of two levels what it is for', () => {
    const folders = [
      ...foldersOf('src', 2),
      ...PRODUCT.filter((name) => name !== 'src'),
      ...['workflows', 'activities'].flatMap((name) => foldersOf(name, 1)),
    ];

    for (const folder of folders) expect(PAGE, folder).toMatch(new RegExp(`^\\| \`${folder}\` \\| .{10,}`, 'mu'));
  });

  it('shows the picture, and tells the way of an invoice in ten steps', () => {
    expect(PAGE).toMatch(/!\[[^\]]{20,}\]\(picture\/folders\.svg\)/u);
    expect(PAGE.match(/^\| \d+\. /gmu)).toHaveLength(10);
  });
});
