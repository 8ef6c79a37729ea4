import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { BUILD } from '../../compiled-product.ts';
import { COMMAND_VARIABLE } from '../lote/lote-command.ts';

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

async function build(): Promise<Started<Built>> {
  await run(process.execPath, [join(ROOT, 'bin/build.js'), BUILD], { cwd: ROOT });
  const directory = await mkdtemp(join(ROOT, '.cache/run-'));
  return {
    value: { command: join(ROOT, BUILD, 'src/cli/main.js'), directory },
    stop: () => rm(directory, { recursive: true, force: true }),
  };
}

/** What a set-up has started. */
export interface Started<Value> {
  readonly value: Value;
  stop(): Promise<void>;
}

/** A set-up that all projects of a run share: each project has its own copy of this module, in the same process. */
interface SharedSetUp {
  users: number;
  readonly started: Promise<Started<unknown>>;
}

const RUN = globalThis as { loteSetUps?: Map<string, SharedSetUp> };

/**
 * Starts a set-up once for all projects of a run, and stops it when the last project has ended.
 * @returns the value of the set-up, and the function that the project's teardown must call.
 */
export async function shareSetUp<Value>(
  name: string,
  start: () => Promise<Started<Value>>,
): Promise<{ readonly value: Value; release(): Promise<void> }> {
  const setUps = (RUN.loteSetUps ??= new Map());
  const setUp: SharedSetUp = setUps.get(name) ?? { users: 0, started: start() };
  setUps.set(name, setUp);
  setUp.users += 1;
  const { value, stop } = await setUp.started;
  return {
    value: value as Value,
    async release() {
      setUp.users -= 1;
      if (setUp.users > 0) return;
      setUps.delete(name);
      await stop();
    },
  };
}
