import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cleanCheckout, trackedFiles, type CleanCheckout } from '../support/lote/clean-checkout.ts';

const run = promisify(execFile);
const tracked = trackedFiles();
/** The first line of `lote --help`. */
const USAGE = 'Usage: lote';

describe.skipIf(tracked === null)('what `lote` runs in a checkout', () => {
  let checkout: CleanCheckout;
  let cache: string;

  beforeAll(async () => {
    checkout = await cleanCheckout(tracked ?? []);
    cache = await mkdtemp(join(tmpdir(), 'lote-cache-'));
    const env = { ...process.env, XDG_CACHE_HOME: cache };
    await run(process.execPath, ['bin/prepare.js'], { cwd: checkout.directory, env });
  });

  afterAll(async () => {
    await checkout.remove();
    await rm(cache, { recursive: true, force: true });
  });

  /** Puts a mark into the description that `lote --help` prints. */
  async function mark(file: string, word: string): Promise<void> {
    const path = join(checkout.directory, file);
    const code = await readFile(path, 'utf8');
    const marked = code.replace(/\w+ batch invoicing/, `${word} batch invoicing`);
    expect(marked).not.toBe(code);
    await writeFile(path, marked);
  }

  async function help(): Promise<string> {
    const { stdout } = await run(process.execPath, ['bin/lote.js', '--help'], { cwd: checkout.directory });
    expect(stdout).toContain(USAGE);
    return stdout;
  }

  it('finds an empty ledger to copy, which `npm ci` made', async () => {
    const [template, ...more] = await readdir(join(cache, 'lote/ledgers'));

    expect(template).toMatch(/^pglite-[\d.]+-[0-9a-f]+$/);
    expect(more).toEqual([]);
    expect(await readdir(join(cache, 'lote/ledgers', template ?? ''))).toContain('PG_VERSION');
  });

  it('is the build that `npm ci` made, and the sources once one of them has changed, or the build is not whole', async () => {
    await mark('dist/src/cli/main.js', 'BUILT');
    expect(await help()).toContain('BUILT');

    const bundle = join(checkout.directory, 'dist/workflow-bundle.js');
    const whole = await readFile(bundle);
    await rm(bundle);
    expect(await help(), 'without the last file of the build').not.toContain('BUILT');

    await writeFile(bundle, whole);
    expect(await help()).toContain('BUILT');
    await mark('src/cli/program.ts', 'CHANGED');
    expect(await help()).toContain('CHANGED');

    await run(process.execPath, ['bin/build.js'], { cwd: checkout.directory });
    await mark('dist/src/cli/main.js', 'AGAIN');
    expect(await help(), 'after `npm run build`').toContain('AGAIN');
  });
});
