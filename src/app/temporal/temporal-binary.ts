import { execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { access, chmod, constants, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { LoteError } from '../../domain/errors.ts';
import { errorCode } from '../../platform/error-code.ts';
import { putAside, cacheDirectory } from '../../platform/files.ts';
import { buildEnvironment } from '../process/child-environment.ts';
import { createRequire } from 'node:module';

/** The last version that `go install` takes; it brings its own UI. */
const CLI_VERSION = 'v1.5.1';
const CLI_MODULE = `github.com/temporalio/cli/cmd/temporal@${CLI_VERSION}`;
/** A download or a build that is silent for minutes looks dead. */
const NOTIFY_EVERY_MS = 10_000;
/** It answers in less than a second, on a busy machine too. */
const VERSION_MS = 60_000;

/** Enough for 100 MB at 3 Mbit/s. */
const DOWNLOAD_LIMIT_MS = 5 * 60_000;

/** What is downloaded, with which surroundings, and for how long at most (milliseconds). */
interface TemporalDownload {
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

/**
 * The SDK downloads only to start a server at once, so one is started on a free port and ended. The
 * process ends with its parent, which holds its input open.
 */
const DOWNLOAD = `
process.stdin.once('end', () => process.exit(1)).resume();
const [sdk, downloadDir, version] = process.argv.slice(1);
require(sdk)
  .TestWorkflowEnvironment.createLocal({ server: { executable: { type: 'cached-download', downloadDir, version } } })
  .then((environment) => environment.teardown())
  .then(() => process.exit(0), () => process.exit(1));`;

function downloadInto(directory: string, { version, env, limitMs = DOWNLOAD_LIMIT_MS }: TemporalDownload) {
  const sdk = createRequire(import.meta.url).resolve('@temporalio/testing');
  return new Promise<boolean>((resolve, reject) => {
    const child = spawn(process.execPath, ['-e', DOWNLOAD, sdk, directory, version], {
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

/**
 * Finds or makes a Temporal CLI: on PATH, in the user's cache, else downloaded by the SDK, else built by Go (about 3 minutes, once per user).
 * @throws LoteError `temporal-unavailable`, saying what was tried.
 */
export async function acquireTemporalBinary(
  notify: (line: string) => void,
  env: NodeJS.ProcessEnv,
  download = downloadTemporal,
): Promise<string> {
  const onPath = await findOnPath('temporal', env);
  if (onPath !== null) return onPath;
  const cached = join(cacheDirectory(env), `temporal-${CLI_VERSION}`, 'temporal');
  if (await runs(cached)) return cached;
  await makeCache(dirname(cached));
  if (existsSync(cached)) await putAside(cached, notify);
  notify(`Looking for the Temporal server ${CLI_VERSION}: it is not on PATH and not kept from before …`);
  const reports = reportEvery(notify, 'looking for it');
  try {
    if (await download(cached, { version: CLI_VERSION, env })) return cached;
  } finally {
    reports.end();
  }
  const go = await findOnPath('go', env);
  if (go === null) {
    throw new LoteError(
      'temporal-unavailable',
      `Starting an embedded Temporal server: neither \`temporal\` nor \`go\` is on PATH, and a download failed, or did not end within ${DOWNLOAD_LIMIT_MS / 60_000} minutes. Install the Temporal CLI, or Go, or set TEMPORAL_ADDRESS to a server.`,
    );
  }
  await build(go, cached, { notify, env });
  return cached;
}

async function makeCache(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
  } catch (error) {
    throw new LoteError(
      'temporal-unavailable',
      `Starting an embedded Temporal server: \`temporal\` is not on PATH, and ${folder} must be a folder in which one can be kept, found ${errorCode(error)}. Set XDG_CACHE_HOME to a folder that can be written, install the Temporal CLI, or set TEMPORAL_ADDRESS to a server.`,
      { cause: error },
    );
  }
}

/** Says every ten seconds that what takes long goes on. */
function reportEvery(notify: (line: string) => void, what: string): { seconds: () => number; end: () => void } {
  const started = Date.now();
  const seconds = (): number => Math.round((Date.now() - started) / 1000);
  const timer = setInterval(() => notify(`… still ${what}, ${seconds()} s`), NOTIFY_EVERY_MS);
  return { seconds, end: () => clearInterval(timer) };
}

async function findOnPath(name: string, env: NodeJS.ProcessEnv): Promise<string | null> {
  for (const directory of (env['PATH'] ?? '').split(delimiter)) {
    const candidate = join(directory, name);
    if (directory !== '' && (await isExecutable(candidate))) return candidate;
  }
  return null;
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** A file that a full disk or a crash has damaged may be executable. */
async function runs(binary: string): Promise<boolean> {
  try {
    await promisify(execFile)(binary, ['--version'], { timeout: VERSION_MS });
    return true;
  } catch {
    return false;
  }
}

/** Built beside the cache and renamed into it: two starts at once both end with a whole binary. */
async function build(
  go: string,
  target: string,
  { notify, env }: { notify: (line: string) => void; env: NodeJS.ProcessEnv },
): Promise<void> {
  const bin = join(target, '..', '..', `.building-${randomUUID()}`);
  await mkdir(bin, { recursive: true });
  await mkdir(join(target, '..'), { recursive: true });
  notify(`Building the Temporal server ${CLI_VERSION} with Go (about 3 minutes, once per user) …`);
  const reports = reportEvery(notify, 'building');
  try {
    const output = await goInstall(go, { ...buildEnvironment(env), GOBIN: bin });
    if (output.code !== 0) {
      throw new LoteError(
        'temporal-unavailable',
        `Building the Temporal server with Go failed: ${output.tail}. Install the Temporal CLI, or set TEMPORAL_ADDRESS to a server.`,
      );
    }
    await chmod(join(bin, 'temporal'), 0o755);
    await rename(join(bin, 'temporal'), target);
    notify(`Temporal server ready after ${reports.seconds()} s; kept for the next start.`);
  } finally {
    reports.end();
    await rm(bin, { recursive: true, force: true });
  }
}

function goInstall(go: string, env: NodeJS.ProcessEnv): Promise<{ code: number | null; tail: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(go, ['install', '-ldflags', '-s -w', CLI_MODULE], { env, stdio: ['ignore', 'ignore', 'pipe'] });
    let tail = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      tail = (tail + text).slice(-300);
    });
    child.once('error', reject);
    child.once('exit', (code) => resolve({ code, tail: tail.trim().split('\n').at(-1) ?? '' }));
  });
}
