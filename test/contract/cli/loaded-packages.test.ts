import { fileURLToPath } from 'node:url';
import { build, type Metafile } from 'esbuild';
import { beforeAll, describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const MAIN = 'src/cli/main.ts';

let inputs: Metafile['inputs'];

beforeAll(async () => {
  const { metafile } = await build({
    ...{ absWorkingDir: ROOT, entryPoints: [MAIN], outdir: '.cache', write: false, metafile: true },
    ...{ bundle: true, splitting: true, format: 'esm', platform: 'node', packages: 'external' },
  });
  inputs = metafile.inputs;
});

describe('the packages that a command loads at its start', () => {
  it.each([
    ['lote --help', MAIN, ['@temporalio/client', '@temporalio/worker', 'hono', 'pg', 'undici']],
    ['lote check', 'src/cli/commands/check.ts', ['@temporalio/client', '@temporalio/worker', 'hono', 'pg', 'undici']],
    ['lote status', 'src/cli/commands/status.ts', ['@temporalio/client', '@temporalio/worker', 'undici']],
    ['lote find', 'src/cli/commands/find.ts', ['@temporalio/client', '@temporalio/worker', 'undici']],
    ['lote nightly', 'src/cli/commands/nightly.ts', ['@temporalio/testing', '@temporalio/worker', 'undici']],
    ['lote receiver', 'src/cli/commands/roles.ts', ['@temporalio/testing', '@temporalio/worker', 'nodemailer']],
  ])('by %s leave out what it never uses', (_command, file, unused) => {
    const loaded = packagesOf(file);
    expect(loaded).not.toHaveLength(0);
    expect(unused.filter((name) => loaded.includes(name))).toEqual([]);
  });

  it('by the roles of worker and console hold what the others leave out', () => {
    expect(packagesOf('src/app/worker/start-worker.ts')).toEqual(
      expect.arrayContaining(['@temporalio/client', '@temporalio/worker', 'nodemailer']),
    );
    expect(packagesOf('src/app/console/console-parts.ts')).toContain('hono');
  });
});

/** Of a file and of what it imports; what it imports dynamically comes later, if at all. */
function packagesOf(file: string): readonly string[] {
  const seen = new Set([file]);
  const packages = new Set<string>();
  for (const one of seen) {
    for (const { path, kind, external } of inputs[one]?.imports ?? []) {
      if (kind === 'dynamic-import') continue;
      if (external === true) packages.add(path);
      else seen.add(path);
    }
  }
  return [...packages].filter((name) => !name.startsWith('node:'));
}
