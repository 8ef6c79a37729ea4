import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '@temporalio/client';
import { batchIdOf } from '../../../src/contract/batch-id.ts';
import { hashFile } from '../../../src/ingest/hash-file.ts';
import { connectTemporal } from '../../../src/runtime/temporal/temporal-connection.ts';
import { awaitResult } from '../../../src/wiring/temporal/await-result.ts';
import type { invoiceBatch } from '../../../workflows/invoice-batch.ts';
import type { BatchResult } from '../../../src/contract/messages.ts';
import { crashAtOf, faultOf, standsStill, type CrashCase, type CrashEnd } from './crash-case.ts';
import { judge, unfinished } from './crash-judge.ts';
import { HELD } from './crash-matrix.ts';
import { crashServers, type CrashServers } from './crash-servers.ts';
import { hangEvidence } from './hang-evidence.ts';
import { writeInvoiceFile } from '../files/invoice-file.ts';
import type { CommandEnd, RunningCommand } from '../lote/lote-command.ts';
import { processes, type Processes } from '../lote/processes.ts';
import { until } from '../until.ts';

export interface CrashLaneOptions {
  readonly invoices?: number;
  /** Lines of each invoice, default 1. */
  readonly linesEach?: number;
  readonly pageSize?: number;
  /** The Temporal server has a clock that can be moved (`clockAheadMs`). */
  readonly clock?: boolean;
  /** Default true; false: those of the test run, for cases that end none. */
  readonly ownServers?: boolean;
}

/** The distributed form with servers of its own, so that each of them can be ended: one file after the other goes through it. */
export interface CrashLane {
  /** What became of the batch stands in the verdict; it rejects only when the point was never reached. */
  surviveOne(crash: CrashCase): Promise<CrashEnd>;
  remove(): Promise<void>;
}

/** Failed events are confirmed by GET: without them no status is ever recorded. */
const FAILING = [7, 31];
const SAID = { worker: 'Worker on task queue', receiver: 'Receiver http' } as const;
const PARTS = ['worker', 'receiver'] as const;
/** The rule: nothing waits longer than this beyond the return of what was struck. */
const LONGEST_WAIT_S = 60;
/** A batch that is still open so long after that will not end by itself. */
const GIVE_UP_MS = 240_000;
const LAST_WORDS = 500;
/** Finished, and some invoices are not issued; no worker gave a sign of life while the only one stood still. */
const EXIT_OF_RUN = { finished: 1, nobodyThere: 3 };

/** Null where the machine has no PostgreSQL. */
export async function crashLane(options: CrashLaneOptions = {}): Promise<CrashLane | null> {
  const { invoices = 60, linesEach = 1 } = options;
  const servers = await crashServers(options);
  if (servers === null) return null;
  const connection = await connectTemporal({ address: servers.temporal.address });
  const client = new Client({ connection });
  const all = processes();
  const backend = crewOf(servers, all);
  const shape = { invoices, linesEach, failing: FAILING };
  let files = 0;
  return {
    async surviveOne(crash) {
      const began = Date.now();
      files += 1;
      const file = await newFile(servers, files, shape);
      for (const part of PARTS) if (part !== crash.part) await backend.ensure(part);
      const at = await backend.start(crash.part, crashAtOf(crash));
      const run = all.start(['run', file, '--json'], servers.client);
      await Promise.race([atPoint(crash, at), neverReached(run, crash)]);
      const second = crash.workers === 2 ? await backend.launch('worker') : null;
      await strike(crash, { at, servers, start: () => backend.start(crash.part) });
      const back = Date.now();
      const end = await Promise.race([
        Promise.all([batchEnd(client, await batchOf(servers, file)), run.end]),
        sleep(GIVE_UP_MS, null, { ref: false }),
      ]);
      const waited = Date.now() - back;
      await second?.ended();
      const row = {
        ...{ fault: faultOf(crash), step: `${crash.part} ${crash.point}`, workers: crash.workers ?? 1, invoices },
        longestWait: Math.round(waited / 1000),
        seconds: Math.round((Date.now() - began) / 1000),
      };
      const expected = { file, invoices, failing: FAILING.length, files };
      if (end === null) {
        console.error(
          `${row.fault} at ${row.step}, after ${row.longestWait} s: ${await hangEvidence(client, servers.taskQueue)}\n${backend.evidence()}`,
        );
        return { ...row, ...(await unfinished(servers, expected, 'the batch did not end')) };
      }
      const [result, runEnd] = end;
      if (typeof result === 'string') return { ...row, ...(await unfinished(servers, expected, result)) };
      const judged = await judge(expected, { ...servers, result });
      const verdicts = [judged.verdict, exitVerdict(runEnd, crash), waitVerdict(row.longestWait)];
      return { ...row, ...judged, verdict: verdicts.find((one) => one !== HELD) ?? HELD };
    },
    async remove() {
      await all.killAll();
      await connection.close();
      await servers.remove();
    },
  };
}

type Part = CrashCase['part'];

interface Started extends RunningCommand {
  ended(): Promise<void>;
}

/** One worker and one receiver at a time, and whoever is launched beside them. */
function crewOf({ parts }: CrashServers, all: Processes) {
  const running: Partial<Record<Part, Started>> = {};
  const left: string[] = [];

  async function launch(part: Part, crashAt?: string): Promise<Started> {
    const command = all.start([part], crashAt === undefined ? parts : { ...parts, LOTE_CRASH_AT: crashAt });
    await command.said(SAID[part]);
    let wanted = false;
    void command.end.then(({ code, signal, stderr }) => {
      if (!wanted) left.push(`${part} with ${code ?? signal}: ${stderr.slice(-LAST_WORDS)}`);
    });
    return {
      ...command,
      async ended() {
        wanted = true;
        command.killGroup();
        await command.end;
      },
    };
  }

  async function start(part: Part, crashAt?: string): Promise<Started> {
    await running[part]?.ended();
    const next = await launch(part, crashAt);
    running[part] = next;
    return next;
  }

  return {
    launch,
    start,
    /** Who has ended by itself: nobody should. */
    evidence: () => `ended by themselves: ${left.join('; ') || 'nobody'}`,
    async ensure(part: Part) {
      if (running[part] === undefined) await start(part);
    },
  };
}

interface Struck {
  readonly at: RunningCommand;
  readonly servers: CrashServers;
  readonly start: () => Promise<unknown>;
}

/** The blow, and what whoever looks after the servers would do after it. */
async function strike(crash: CrashCase, { at, servers, start }: Struck): Promise<void> {
  const { victim, awayMs = 0, clockAheadMs = 0, isToldToEnd = false } = crash;
  if (victim === 'itself') {
    if (!standsStill(crash)) {
      await start();
      return;
    }
    await sleep(awayMs);
    if (isToldToEnd) at.signal('SIGTERM');
    at.signal('SIGCONT');
    if (isToldToEnd) await endOf(crash, { at, start });
    return;
  }
  if (victim === 'database') await servers.cluster.kill();
  else servers.temporal.kill();
  // Its next statement, or call, meets nobody: the server is up again only after that.
  at.signal('SIGCONT');
  await sleep(awayMs);
  if (victim === 'database') await servers.cluster.restart();
  else await servers.temporal.restart(clockAheadMs);
}

/** What it has begun it ends, and then the next one takes its place. */
async function endOf({ part }: CrashCase, { at, start }: Pick<Struck, 'at' | 'start'>): Promise<void> {
  const { code, signal, stderr } = await at.end;
  if (code !== 0)
    throw new Error(`The ${part} that was told to end left with ${code ?? signal}: ${stderr.slice(-LAST_WORDS)}`);
  await start();
}

async function newFile(
  { place }: CrashServers,
  nth: number,
  shape: { readonly invoices: number; readonly linesEach: number; readonly failing: readonly number[] },
): Promise<string> {
  const file = join(place.inputDir, `crash-${nth}.csv`);
  const merchants = [1, 2, 3].map((merchant) => String(500_000_000 + nth * 10 + merchant));
  await writeInvoiceFile(file, { ...shape, series: `C${nth}`, merchants });
  return file;
}

async function batchOf({ application }: CrashServers, file: string): Promise<string> {
  return batchIdOf(application, file, await hashFile(file));
}

/** The batch's result, whoever waits for it; a text when it failed. */
async function batchEnd(client: Client, batchId: string): Promise<BatchResult | string> {
  const handle = client.workflow.getHandle<typeof invoiceBatch>(batchId);
  try {
    return await awaitResult(handle, { pause: (ms) => sleep(ms), onAway: () => undefined });
  } catch (error) {
    return `the batch failed: ${String(error)}`;
  }
}

function exitVerdict({ code, stderr }: CommandEnd, crash: CrashCase): string {
  const allowed: readonly (number | null)[] =
    crash.awayMs === undefined ? [EXIT_OF_RUN.finished] : Object.values(EXIT_OF_RUN);
  return allowed.includes(code) ? HELD : `lote run ended with ${code}: ${stderr.trim().slice(-300)}`;
}

function waitVerdict(seconds: number): string {
  return seconds <= LONGEST_WAIT_S ? HELD : `it waited ${seconds} s, longer than ${LONGEST_WAIT_S} s`;
}

async function atPoint(crash: CrashCase, at: RunningCommand): Promise<void> {
  if (!standsStill(crash)) {
    const { signal } = await at.end;
    if (signal !== 'SIGKILL') throw new Error(`The ${crash.part} ended by ${signal} instead of SIGKILL.`);
    return;
  }
  await at.said('LOTE_CRASH_AT: stopped at');
  // It says so just before it stands still: a SIGCONT in between would be lost, and it would stand there for ever.
  await until(async () => (await stateOf(at.pid)) === 'T');
}

async function stateOf(pid: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  // The name of the program stands in brackets and may hold anything.
  return stat.slice(stat.lastIndexOf(')') + 2)[0];
}

/** A client that gave up looking for a worker says nothing about the batch: the point may still be reached. */
async function neverReached(run: RunningCommand, { point }: CrashCase): Promise<never> {
  const { code, stderr } = await run.end;
  if (code === EXIT_OF_RUN.nobodyThere) return new Promise(() => undefined);
  throw new Error(`The run ended before ${point} was reached: exit ${code}, ${stderr}`);
}
