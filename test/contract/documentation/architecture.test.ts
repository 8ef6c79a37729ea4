import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const CHECKOUT = new URL('../../../', import.meta.url);
const PAGE = readFileSync(new URL('docs/architecture.md', CHECKOUT), 'utf8');
/** What stands between backticks and begins like a path of the product or the docs. */
const paths = [...PAGE.matchAll(/`((?:src|workflows|activities|docs|test|input)(?:\/[\w.-]+)+)`/gu)].map(
  ([, path]) => path ?? '',
);

describe('docs/architecture.md', () => {
  it('names files and folders that exist', () => {
    const missing = paths.filter((path) => !existsSync(fileURLToPath(new URL(path, CHECKOUT))));

    expect(paths.length).toBeGreaterThan(80);
    expect(missing).toEqual([]);
  });

  it('says of each folder of the product what it is for', () => {
    const below = readdirSync(new URL('src/', CHECKOUT), { withFileTypes: true }).filter((one) => one.isDirectory());
    const folders = [...below.map(({ name }) => `src/${name}`), 'workflows', 'activities'];

    for (const folder of folders) expect(PAGE, folder).toMatch(new RegExp(`^\\| \`${folder}\` \\| .{10,}`, 'mu'));
  });

  it('tells the way of an invoice in ten steps', () => {
    expect(PAGE.match(/^\| \d+\. /gmu)).toHaveLength(10);
  });
});
