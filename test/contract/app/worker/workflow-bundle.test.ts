import { mkdir, mkdtemp, readFile, readdir, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { sealed, workflowBundle } from '../../../../src/app/worker/workflow-bundle.ts';

const NODE_MODULES = fileURLToPath(new URL('../../../../node_modules', import.meta.url));

let root: string;
let cache: string;

/** A product with one tiny workflow, and a cache of its own. */
beforeEach(async () => {
  const directory = await mkdtemp(join(tmpdir(), 'lote-bundle-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  root = join(directory, 'product');
  cache = join(directory, 'cache');
  await mkdir(join(root, 'workflows'), { recursive: true });
  await mkdir(join(root, 'src/domain'), { recursive: true });
  await mkdir(join(root, 'src/texts'), { recursive: true });
  await symlink(NODE_MODULES, join(root, 'node_modules'));
  await writeFile(join(root, 'package.json'), '{"name":"tiny","type":"module"}');
  await writeFile(join(root, 'src/domain/word.ts'), "export const WORD: string = 'first-word';\n");
  await writeFile(
    join(root, 'workflows/index.ts'),
    "import { WORD } from '../src/domain/word.ts';\nexport async function tiny(): Promise<string> {\n  return WORD;\n}\n",
  );
});

async function bundlePath(): Promise<string> {
  const bundle = await workflowBundle({ XDG_CACHE_HOME: cache }, root);
  if ('codePath' in bundle) return bundle.codePath;
  throw new Error('expected a file');
}

describe('workflowBundle', () => {
  it('bundles once and finds the bundle at the next start', async () => {
    const first = await bundlePath();
    const made = await stat(first);

    const second = await bundlePath();

    expect(second).toBe(first);
    expect((await stat(second)).mtimeMs).toBe(made.mtimeMs);
    expect(await readFile(first, 'utf8')).toContain('first-word');
    expect(await readdir(join(cache, 'lote/workflow-bundles'))).toHaveLength(1);
  });

  it.each([
    ['cut off', (path: string) => truncate(path, 50_000)],
    ['empty', (path: string) => truncate(path, 0)],
  ])('bundles again what is %s', async (_, damage) => {
    const first = await bundlePath();
    const whole = await readFile(first, 'utf8');
    await damage(first);

    const second = await bundlePath();

    expect(second).toBe(first);
    expect(await readFile(second, 'utf8')).toBe(whole);
  });

  it('bundles again when a source or a version has changed', async () => {
    const first = await bundlePath();
    await writeFile(join(root, 'src/domain/word.ts'), "export const WORD: string = 'second-word';\n");
    const second = await bundlePath();
    await writeFile(join(root, 'package.json'), '{"name":"tiny","type":"module","version":"2.0.0"}');
    const third = await bundlePath();
    await writeFile(join(root, 'src/texts/english.ts'), "export const HELLO = 'hello';\n");
    const fourth = await bundlePath();

    expect(new Set([first, second, third, fourth]).size).toBe(4);
    expect(await readFile(second, 'utf8')).toContain('second-word');
  });

  it('takes the bundle that the build left, where there are no sources', async () => {
    const built = join(root, 'workflow-bundle.js');
    await writeFile(built, sealed(''));
    await rm(join(root, 'package.json'));
    await rm(join(root, 'src'), { recursive: true });

    expect(await bundlePath()).toBe(built);
  });

  it('works without a cache that can be written to', async () => {
    await writeFile(cache, 'a file where the directory should be');

    const bundle = await workflowBundle({ XDG_CACHE_HOME: cache }, root);

    expect('code' in bundle ? bundle.code : '').toContain('first-word');
  });
});
