import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { access, chmod, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A Temporal server whose clock is set when it starts: an hour of its own time passes while it is away for some seconds. */
export interface MovableClock {
  /** To be started as the Temporal CLI is. */
  readonly binary: string;
  /** From the next start on. */
  forward(ms: number): Promise<void>;
}

const CLI = 'github.com/temporalio/cli/cmd/temporal@v1.5.1';
const CACHED = join(
  process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'),
  'lote',
  'temporal-v1.5.1-clock',
  'temporal',
);
const SOURCE = fileURLToPath(new URL('clock/clock_ahead.go', import.meta.url));
const NOW = 'func Now() Time {\n\tsec, nsec, mono := runtimeNow()\n';

/**
 * The Go program reads its clock without any library, so nothing can be put between the two: the CLI is built once with a `time.Now`
 * that adds CLOCK_AHEAD_SECONDS. False where it is neither in the cache nor to be built because Go is missing.
 */
export async function hasMovableClock(notify: (line: string) => void): Promise<boolean> {
  if (await exists(CACHED)) return true;
  try {
    const { stdout } = await run('go', ['env', 'GOROOT']);
    notify('Building a Temporal server whose clock can be moved (some minutes, once per user) …');
    await build(stdout.trim());
    return true;
  } catch (error) {
    notify(`No Temporal server whose clock can be moved: ${String(error).slice(0, 300)}`);
    return false;
  }
}

/** `directory` keeps how far the clock is ahead; call `hasMovableClock` first. */
export async function movableClock(directory: string): Promise<MovableClock> {
  const ahead = join(directory, 'clock-ahead');
  const binary = join(directory, 'temporal-with-clock');
  await writeFile(ahead, '0');
  await writeFile(binary, `#!/bin/sh\nCLOCK_AHEAD_SECONDS=$(cat '${ahead}') exec '${CACHED}' "$@"\n`);
  await chmod(binary, 0o755);
  return {
    binary,
    async forward(ms) {
      await writeFile(ahead, String(Number(await readFile(ahead, 'utf8')) + Math.round(ms / 1000)));
    },
  };
}

async function build(goRoot: string): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'lote-clock-'));
  try {
    const original = join(goRoot, 'src', 'time', 'time.go');
    const text = await readFile(original, 'utf8');
    if (!text.includes(NOW)) throw new Error(`${original} has another time.Now than this was written for`);
    await writeFile(join(directory, 'time.go'), text.replace(NOW, `${NOW}\tsec += clockAhead()\n`));
    const overlay = {
      Replace: { [original]: join(directory, 'time.go'), [join(dirname(original), 'clock_ahead.go')]: SOURCE },
    };
    await writeFile(join(directory, 'overlay.json'), JSON.stringify(overlay));
    const args = ['install', '-overlay', join(directory, 'overlay.json'), '-ldflags', '-s -w', CLI];
    await run('go', args, { env: { ...process.env, GOBIN: directory } });
    const whole = `${CACHED}.${randomUUID()}`;
    await mkdir(dirname(CACHED), { recursive: true });
    await run('cp', [join(directory, 'temporal'), whole]);
    await rename(whole, CACHED);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
