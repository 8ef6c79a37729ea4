import { spawn } from 'node:child_process';
import { mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { buildEnvironment } from '../process/child-environment.ts';

/** Enough for 100 MB at 3 Mbit/s. */
export const DOWNLOAD_LIMIT_MS = 5 * 60_000;

/** What is downloaded, with which surroundings, and for how long at most (milliseconds). */
export interface TemporalDownload {
  /** Of the CLI, such as `v1.5.1`. */
  readonly version: string;
  readonly env: NodeJS.ProcessEnv;
  /** Left out: five minutes. */
  readonly limitMs?: number;
}

/**
 * The SDK's own download of a Temporal CLI, moved to `target`; false when it cannot be had in time (offline that shows at once). It runs in a process of
 * its own: the SDK has no time limit for it and cannot be told to stop, and its server would get the whole environment of this process, with its secrets.
 */
export async function downloadTemporal(target: string, download: TemporalDownload): Promise<boolean> {
  // Beside the target: a rename within one file system shows the binary whole or not at all.
  const directory = await mkdtemp(`${target}-download-`);
  try {
    if (!(await downloadInto(directory, download))) return false;
    const [binary] = await readdir(directory);
    if (binary === undefined) return false;
    await rename(join(directory, binary), target);
    return true;
  } catch {
    return false;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Compiled, the process is a plain file beside this one; in a checkout it is TypeScript and needs its loader first. */
function downloadInto(directory: string, { version, env, limitMs = DOWNLOAD_LIMIT_MS }: TemporalDownload) {
  const isSource = import.meta.url.endsWith('.ts');
  const entry = fileURLToPath(new URL(isSource ? './download-process.ts' : './download-process.js', import.meta.url));
  const loader = isSource ? ['--import', pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href] : [];
  return new Promise<boolean>((resolve, reject) => {
    const child = spawn(process.execPath, [...loader, entry, directory, version], {
      env: buildEnvironment(env),
      stdio: ['pipe', 'ignore', 'ignore'],
      timeout: limitMs,
      // The SDK hears every other signal and goes on.
      killSignal: 'SIGKILL',
    });
    child.once('error', reject);
    child.once('exit', (code) => resolve(code === 0));
  });
}
