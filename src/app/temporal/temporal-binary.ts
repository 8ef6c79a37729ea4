import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, constants, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { LoteError } from '../../domain/errors.ts';
import { errorCode } from '../../platform/error-code.ts';
import { cacheDirectory, putAside, type Notify } from '../../platform/files.ts';
import { buildEnvironment } from '../process/child-environment.ts';

/** The last version that `go install` accepts; it includes its UI. */
const CLI_VERSION = 'v1.5.1';
const CLI_MODULE = `github.com/temporalio/cli/cmd/temporal@${CLI_VERSION}`;
/** `--version` answers in less than a second, also on a busy machine. */
const VERSION_MS = 60_000;
/** Enough for 100 MB at 3 Mbit/s. */
const DOWNLOAD_LIMIT_MS = 5 * 60_000;

const run = promisify(execFile);

/**
 * Finds or makes a Temporal CLI: on PATH, in the user's cache, downloaded by the SDK, or built by Go (about 3 minutes, once per user).
 * @throws LoteError `temporal-unavailable`, which says why there is none.
 */
export async function acquireTemporalBinary(
  notify: Notify,
  env: NodeJS.ProcessEnv,
  download = downloadTemporal,
): Promise<string> {
  const onPath = await findOnPath('temporal', env);
  if (onPath !== null) return onPath;
  const folder = join(cacheDirectory(env), `temporal-${CLI_VERSION}`);
  const cached = join(folder, 'temporal');
  if (await runs(cached)) return cached;
  await mkdir(folder, { recursive: true }).catch((error: unknown) => {
    throw unavailable(`${folder} must be a folder for one (XDG_CACHE_HOME), found ${errorCode(error)}`, error);
  });
  if (existsSync(cached)) await putAside(cached, notify);
  notify(
    `Looking for the Temporal server ${CLI_VERSION}: it is not on PATH and not kept from before (5 minutes at most) …`,
  );
  if (await download(cached, env)) return cached;
  const go = await findOnPath('go', env);
  if (go === null) throw unavailable('a download failed or took too long, and `go` is not on PATH either');
  notify(`Building the Temporal server ${CLI_VERSION} with Go (about 3 minutes, once per user) …`);
  await build(go, cached, env);
  notify('Temporal server ready; kept for the next start.');
  return cached;
}

/**
 * The SDK downloads only to start a server at once, so this script starts one on a free port and ends it. The script
 * ends with its parent, which holds its input open.
 */
const DOWNLOAD = `
process.stdin.once('end', () => process.exit(1)).resume();
const [sdk, downloadDir, version] = process.argv.slice(1);
require(sdk)
  .TestWorkflowEnvironment.createLocal({ server: { executable: { type: 'cached-download', downloadDir, version } } })
  .then((environment) => environment.teardown())
  .then(() => process.exit(0), () => process.exit(1));`;

/**
 * Downloads a Temporal CLI to `target` with the SDK. Returns false if that fails (offline: at once) or takes too long. Runs in a
 * separate process, because the SDK has no time limit, cannot be stopped, and gives its server the whole environment with secrets.
 */
export async function downloadTemporal(
  target: string,
  env: NodeJS.ProcessEnv,
  limitMs = DOWNLOAD_LIMIT_MS,
): Promise<boolean> {
  const sdk = createRequire(import.meta.url).resolve('@temporalio/testing');
  const download = async (directory: string): Promise<void> => {
    const child = spawn(process.execPath, ['-e', DOWNLOAD, sdk, directory, CLI_VERSION], {
      env: buildEnvironment(env),
      stdio: ['pipe', 'ignore', 'ignore'],
      timeout: limitMs,
      // The SDK catches every other signal and goes on.
      killSignal: 'SIGKILL',
    });
    const [code] = (await once(child, 'exit')) as [number | null];
    // The failed download may have left a part of the binary.
    if (code !== 0) throw new Error('the download failed');
  };
  return makeBinary(target, download).catch(() => false);
}

async function build(go: string, target: string, env: NodeJS.ProcessEnv): Promise<void> {
  const install = (directory: string): Promise<unknown> =>
    run(go, ['install', '-ldflags', '-s -w', CLI_MODULE], { env: { ...buildEnvironment(env), GOBIN: directory } });
  await makeBinary(target, install).catch((error: unknown) => {
    const { stderr = '' } = error as { readonly stderr?: string };
    throw unavailable(`building one with Go failed: ${stderr.trim().split('\n').at(-1)}`, error);
  });
}

/** Makes a binary in a folder beside its target and renames it: two concurrent starts both get a whole one. Returns false without one. */
async function makeBinary(target: string, make: (directory: string) => Promise<unknown>): Promise<boolean> {
  const directory = await mkdtemp(`${target}-`);
  try {
    await make(directory);
    const [binary] = await readdir(directory);
    if (binary === undefined) return false;
    await rename(join(directory, binary), target);
    return true;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function findOnPath(name: string, env: NodeJS.ProcessEnv): Promise<string | null> {
  for (const directory of (env['PATH'] ?? '').split(delimiter)) {
    const candidate = join(directory, name);
    if (directory !== '' && (await succeeds(() => access(candidate, constants.X_OK)))) return candidate;
  }
  return null;
}

/** A file that a full disk or a crash has damaged may still be executable. */
function runs(binary: string): Promise<boolean> {
  return succeeds(() => run(binary, ['--version'], { timeout: VERSION_MS }));
}

async function succeeds(act: () => Promise<unknown>): Promise<boolean> {
  try {
    await act();
    return true;
  } catch {
    return false;
  }
}

function unavailable(reason: string, cause?: unknown): LoteError {
  return new LoteError(
    'temporal-unavailable',
    `Starting an embedded Temporal server: \`temporal\` is not on PATH, and ${reason}. Install the Temporal CLI, or Go, or set TEMPORAL_ADDRESS to a server.`,
    { cause },
  );
}
