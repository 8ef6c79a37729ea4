import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { access, chmod, constants, mkdir, rename, rm } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { LoteError } from '../../domain/errors.ts';
import { errorCode } from '../../file-system/error-code.ts';
import { cacheDirectory } from '../../file-system/cache-directory.ts';
import { buildEnvironment } from '../process/child-environment.ts';
import { DOWNLOAD_LIMIT_MS, downloadTemporal, type TemporalDownload } from './download-temporal.ts';

/** The last version that `go install` takes; it brings its own UI. */
const CLI_VERSION = 'v1.5.1';
const CLI_MODULE = `github.com/temporalio/cli/cmd/temporal@${CLI_VERSION}`;
/** A download or a build that is silent for minutes looks dead. */
const NOTIFY_EVERY_MS = 10_000;

/** Puts a binary at the path, whole or not at all; false when there is none to be had. */
type DownloadTemporal = (target: string, download: TemporalDownload) => Promise<boolean>;

/**
 * Finds or makes a Temporal CLI: on PATH, in the user's cache, else downloaded by the SDK, else built by Go (about 3 minutes, once per user).
 * @throws LoteError `temporal-unavailable`, saying what was tried.
 */
export async function acquireTemporalBinary(
  notify: (line: string) => void,
  env: NodeJS.ProcessEnv,
  download: DownloadTemporal = downloadTemporal,
): Promise<string> {
  const onPath = await findOnPath('temporal', env);
  if (onPath !== null) return onPath;
  const cached = join(cacheDirectory(env), `temporal-${CLI_VERSION}`, 'temporal');
  if (await isExecutable(cached)) return cached;
  await makeCache(dirname(cached));
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
