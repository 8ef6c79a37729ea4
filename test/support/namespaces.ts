import { execFileSync } from 'node:child_process';
import { readdir, readFile, realpath } from 'node:fs/promises';
import { join } from 'node:path';

/** A command line that starts the command inside another sandbox of the same machine. */
export interface Sandboxed {
  readonly name: string;
  wrap(command: readonly string[]): readonly string[];
}

export const NETWORK_NAMESPACE: Sandboxed = {
  name: 'another network namespace',
  wrap: (command) => ['unshare', '--net', ...command],
};

/** Like two containers on one network: a pid of one container means nothing in the other. */
export const PID_NAMESPACE: Sandboxed = {
  name: 'another process namespace',
  wrap: (command) => ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc', ...command],
};

/** Gives a directory a second path that only the command sees. */
export function bindMount(directory: string, elsewhere: string): Sandboxed {
  return {
    name: 'a bind mount',
    wrap: (command) => [
      ...['unshare', '--mount', 'sh', '-c', 'mount --bind "$0" "$1" && shift && exec "$@"', directory, elsewhere],
      ...command,
    ],
  };
}

/** Runs the command under the account `nobody`. */
export const OTHER_USER: Sandboxed = {
  name: 'another account',
  wrap: (command) => ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', ...command],
};

/** Returns why this process may not make namespaces; null if it may. */
export function whyNoNamespaces(): string | null {
  try {
    execFileSync('unshare', ['--net', '--pid', '--fork', '--mount', 'true'], { stdio: 'ignore' });
    return null;
  } catch {
    return 'needs unshare(1) and the right to make namespaces (Linux, root)';
  }
}

/** Returns the pid of the embedded Temporal server of this data directory; null if none runs. */
export async function temporalProcess(dataDir: string): Promise<number | null> {
  const file = join(await realpath(dataDir).catch(() => dataDir), 'temporal.db');
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const [program = '', ...words] = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0');
    // The shell that watches the server has the same arguments.
    if (!program.endsWith('/sh') && words.includes(file) && words[0] === 'server') return Number(pid);
  }
  return null;
}
