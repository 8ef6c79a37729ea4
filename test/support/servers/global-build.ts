import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { BUILD } from '../../compiled-product.ts';
import { COMMAND_VARIABLE } from '../lote/lote-command.ts';
import { shareSetUp } from './shared-set-up.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
/** The variable with a folder in the checkout for further builds that files of this run share. The run removes it. */
export const RUN_VARIABLE = 'LOTE_TEST_RUN_DIRECTORY';

/** Compiles the product for tests that start `lote` or import it compiled. `npm run check` does the type check. */
export async function setup(): Promise<() => Promise<void>> {
  const { value, release } = await shareSetUp('build', build);
  process.env[COMMAND_VARIABLE] = value.command;
  process.env[RUN_VARIABLE] = value.directory;
  return release;
}

interface Built {
  readonly command: string;
  readonly directory: string;
}

async function build(): Promise<{ readonly value: Built; stop(): Promise<void> }> {
  await run(process.execPath, [join(ROOT, 'bin/build.js'), BUILD], { cwd: ROOT });
  const directory = await mkdtemp(join(ROOT, '.cache/run-'));
  return {
    value: { command: join(ROOT, BUILD, 'src/cli/main.js'), directory },
    stop: () => rm(directory, { recursive: true, force: true }),
  };
}
