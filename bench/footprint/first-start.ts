import { execFile } from 'node:child_process';
import { copyFile, mkdir, readdir, readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { cacheDirectory } from '../../src/platform/files.ts';
import { startLote } from './lote-command.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const SAMPLE = join(ROOT, 'input/sample.csv');
/** Until what the start has left is collected, and the SDK's pollers have settled. */
const REST_MS = 15_000;

/** Memory of Lote alone, its Temporal server apart. */
export interface FirstStart {
  readonly readyMs: number;
  readonly peakMb: number;
  readonly atRestMb: number;
}

export interface RunAtFirstStart {
  /** From the start of the process to the first POST of an invoice. */
  readonly firstInvoiceMs: number;
  readonly peakMb: number;
}

/** `lote up` by a user who has installed Lote and never started it; then the sample file through it, and rest again. */
export async function measureFirstStart(
  directory: string,
  node: string,
): Promise<{ first: FirstStart; afterBatchMb: number }> {
  const { env, sample } = await newUser(directory, 'installed');
  const up = startLote(node, ['up'], env);
  try {
    await up.until('Console');
    const readyMs = Date.now() - up.startedAt;
    await sleep(REST_MS);
    const first = { readyMs, peakMb: up.memory.peak.lote, atRestMb: (await up.memory.now()).lote };
    await startLote(node, ['run', sample, '--json'], env).done;
    await sleep(REST_MS);
    return { first, afterBatchMb: (await up.memory.now()).lote };
  } finally {
    await up.stop();
  }
}

/** `lote run` of the sample file by a user who has never started Lote; `bare`: without what `npm ci` makes for that. */
export async function measureFirstRun(
  directory: string,
  { node, as }: { readonly node: string; readonly as: 'installed' | 'bare' },
): Promise<RunAtFirstStart> {
  const { env, sample } = await newUser(directory, as);
  const command = startLote(node, ['run', sample, '--json'], env);
  const { batches } = JSON.parse(await command.done) as { batches: readonly { reports: { json: string } }[] };
  const report = JSON.parse(await readFile(batches[0]?.reports.json ?? '', 'utf8')) as {
    invoices: readonly { sentAt: string | null }[];
  };
  const sent = report.invoices.flatMap(({ sentAt }) => (sentAt === null ? [] : [Date.parse(sentAt)]));
  const firstAt = sent.reduce((first, at) => Math.min(first, at), Infinity);
  return { firstInvoiceMs: firstAt - command.startedAt, peakMb: command.memory.peak.lote };
}

/** Folders of a user's own, with the sample file, and a cache that holds the Temporal server and, when installed, an empty ledger. */
async function newUser(
  directory: string,
  as: 'installed' | 'bare',
): Promise<{ env: Record<string, string>; sample: string }> {
  const cache = join(directory, 'cache');
  const input = join(directory, 'input');
  await mkdir(join(cache, 'lote'), { recursive: true });
  const sample = join(input, 'sample.csv');
  await mkdir(input);
  await copyFile(SAMPLE, sample);
  const known = cacheDirectory(process.env);
  const servers = (await readdir(known).catch(() => [])).filter((name) => name.startsWith('temporal-'));
  for (const name of servers) await symlink(join(known, name), join(cache, 'lote', name));
  const env = {
    XDG_CACHE_HOME: cache,
    LOTE_DATA_DIR: join(directory, 'data'),
    LOTE_INPUT_DIR: input,
    LOTE_REPORTS_DIR: join(directory, 'reports'),
    ...{ CONSOLE_PORT: '0', RECEIVER_PORT: '0', SANDBOX_PORT: '0' },
  };
  if (as === 'installed')
    await run(process.execPath, ['bin/prepare.js'], { cwd: ROOT, env: { ...process.env, ...env } });
  return { env, sample };
}
