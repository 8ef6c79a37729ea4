import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { COMMAND_VARIABLE } from '../lote/lote-command.ts';
import { shareSetUp } from './shared-set-up.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const BUILD = '.cache/build';

/** Compiles the product for the tests that start `lote` as a process. The type check is `npm run check`'s business. */
export async function setup(): Promise<() => Promise<void>> {
  const { value, release } = await shareSetUp('build', build);
  process.env[COMMAND_VARIABLE] = value;
  return release;
}

async function build(): Promise<{ readonly value: string; stop(): Promise<void> }> {
  await run(process.execPath, [join(ROOT, 'bin/build.js'), BUILD], { cwd: ROOT });
  return { value: join(ROOT, BUILD, 'src/cli/main.js'), stop: async () => {} };
}
