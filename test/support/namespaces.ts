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

/** As two containers on one network: the pids of one mean nothing in the other. */
export const PID_NAMESPACE: Sandboxed = {
  name: 'another process namespace',
  wrap: (command) => ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc', ...command],
};

/** Another path of the same directory, which only the command sees. */
export function bindMount(directory: string, elsewhere: string): Sandboxed {
  return {
    name: 'a bind mount',
    wrap: (command) => [
      ...['unshare', '--mount', 'sh', '-c', 'mount --bind "$0" "$1" && shift && exec "$@"', directory, elsewhere],
      ...command,
    ],
  };
}

/** The account `nobody`. */
export const OTHER_USER: Sandboxed = {
  name: 'another account',
  wrap: (command) => ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', ...command],
};

/** Null when this process may make namespaces; otherwise why not. */
export function whyNoNamespaces(): string | null {
  try {
    execFileSync('unshare', ['--net', '--pid', '--fork', '--mount', 'true'], { stdio: 'ignore' });
    return null;
  } catch {
    return 'needs unshare(1) and the right to make namespaces (Linux, root)';
  }
}

/** The pid of the embedded Temporal server with its file in this data directory; null when none runs. */
export async function temporalProcess(dataDir: string): Promise<number | null> {
  const file = join(await realpath(dataDir).catch(() => dataDir), 'temporal.db');
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const [program = '', ...words] = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0');
    // The shell that watches beside the server has the same words.
    if (!program.endsWith('/sh') && words.includes(file) && words[0] === 'server') return Number(pid);
  }
  return null;
}
