import { execFile } from 'node:child_process';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Where `CONTRIBUTING.md` says to put it. */
const CACHED = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'lote', 'promtool');

/** Prometheus' own checker: on the path, or in the cache; null: it is not there. */
export async function findPromtool(): Promise<string | null> {
  for (const command of ['promtool', CACHED]) {
    const found = await run(command, ['--version']).then(
      () => true,
      () => false,
    );
    if (found) return command;
  }
  return null;
}

/** What it says of a file; rejects with that when it finds a mistake. */
export async function promtool(command: string, parameters: readonly string[]): Promise<string> {
  const { stdout, stderr } = await run(command, [...parameters]);
  return stdout + stderr;
}
