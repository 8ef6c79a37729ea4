import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { COMMAND_VARIABLE } from '../lote/lote-command.ts';
import { shareSetUp } from './shared-set-up.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const BUILD = join(ROOT, '.cache/build');

/** Compiles the product for the tests that start `lote` as a process. The type check is `npm run check`'s business. */
export async function setup(): Promise<() => Promise<void>> {
  const { value, release } = await shareSetUp('build', build);
  process.env[COMMAND_VARIABLE] = value;
  return release;
}

async function build(): Promise<{ readonly value: string; stop(): Promise<void> }> {
  // What was compiled from a file that is gone must not be imported.
  await rm(BUILD, { recursive: true, force: true });
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  await run(process.execPath, [tsc, '-p', 'tsconfig.build.json', '--noCheck', '--outDir', BUILD], { cwd: ROOT });
  await run(process.execPath, [join(BUILD, 'src/build-workflow-bundle.js')], { cwd: ROOT });
  if (!existsSync(join(BUILD, 'input'))) await symlink(join(ROOT, 'input'), join(BUILD, 'input'));
  return { value: join(BUILD, 'src/cli/main.js'), stop: async () => {} };
}
