import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { batchIdOf } from '../../../src/domain/messages/batch-id.ts';
import { hashFile } from '../../../src/ingest/file-chunks.ts';
import { awaitResult } from '../../../src/app/temporal/calls.ts';
import type { invoiceBatch } from '../../../workflows/invoice-batch.ts';
import type { BatchResult } from '../../../src/domain/messages/messages.ts';
import {
  crashAtOf,
  faultOf,
  standsStill,
  bookedLines,
  judge,
  type CrashCase,
  type CrashEnd,
  HELD,
} from './crash-case.ts';
import { ownTemporal, startFleet } from '../lote/fleet.ts';
import { startPostgresCluster, stateOf } from '../servers/postgres-cluster.ts';
import { inject } from 'vitest';
import { writeInvoiceFile } from '../files/batch-file.ts';
import type { CommandEnd, RunningCommand } from '../lote/lote-command.ts';
import { until } from '../until.ts';

export interface CrashLaneOptions {
  readonly invoices?: number;
  /** Lines of each invoice, default 1. */
  readonly linesEach?: number;
  readonly pageSize?: number;
  /** Default true. False uses the servers of the test run, for cases that end no server. */
  readonly ownServers?: boolean;
}

export type CrashLane = NonNullable<Awaited<ReturnType<typeof crashLane>>>;

/** Ordinals of failing invoices. Lote confirms a failed event by GET; without one, Lote records no status. */
const FAILING = [7, 31];
const SAID = { worker: 'Worker on task queue', receiver: 'Receiver http' } as const;
const PARTS = ['worker', 'receiver'] as const;
/** The rule: a batch ends at most this long after the return of the victim. */
const LONGEST_WAIT_S = 60;
/** A batch that is still open after this time will not end by itself. */
const GIVE_UP_MS = 240_000;
const LAST_WORDS = 500;
/** Exit codes: finished with some invoices not issued; no worker answered while the only worker was stopped. */
const EXIT_OF_RUN = { finished: 1, nobodyThere: 3 };

/**
 * Starts worker and receiver with servers of their own that a test can end, which process one file after the other.
 * Resolves to null if the machine has no PostgreSQL.
 */
export async function crashLane(options: CrashLaneOptions = {}) {
  const { invoices = 60, linesEach = 1 } = options;
  const servers = await crashServers(options);
  if (servers === null) return null;
  const { all, client } = servers;
  const backend = crewOf(servers);
  const shape = { invoices, linesEach, failing: FAILING };
  let files = 0;
  return {
    /** Runs one case. The verdict says how the batch ended. Rejects only if the part never reaches the point. */
    async surviveOne(crash: CrashCase): Promise<CrashEnd> {
      const began = Date.now();
      files += 1;
      const file = await newFile(servers, files, shape);
      for (const part of PARTS) if (part !== crash.part) await backend.ensure(part);
      const at = await backend.start(crash.part, crashAtOf(crash));
      const run = all.start(['run', file, '--json'], servers.clientEnv);
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
      if (end === null) console.error(`${row.fault} at ${row.step}, after ${row.longestWait} s: ${backend.evidence()}`);
      const [result, runEnd] = end ?? ['the batch did not end', null];
      const judged = await judge(expected, servers, result);
      if (runEnd === null) return { ...row, ...judged };
      const verdicts = [judged.verdict, exitVerdict(runEnd, crash), waitVerdict(row.longestWait)];
      return { ...row, ...judged, verdict: verdicts.find((one) => one !== HELD) ?? HELD };
    },
    remove: servers.remove,
  };
}

type Part = CrashCase['part'];

interface Started extends RunningCommand {
  ended(): Promise<void>;
}

/** Keeps one worker and one receiver running, and launches further processes. */
function crewOf({ env, all }: CrashServers) {
  const running: Partial<Record<Part, Started>> = {};
  const left: string[] = [];

  async function launch(part: Part, crashAt?: string): Promise<Started> {
    const command = all.start([part], crashAt === undefined ? env : { ...env, CRASH_AT: crashAt });
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
    /** Returns the processes that ended by themselves; there should be none. */
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

/** Strikes the victim, and then does what an operator would do: starts it again or lets it continue. */
async function strike(crash: CrashCase, { at, servers, start }: Struck): Promise<void> {
  const { victim, awayMs = 0, isToldToEnd = false } = crash;
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
  if (victim === 'database') await servers.cluster?.kill();
  else servers.temporal?.server.kill();
  // The part's next statement or call finds no server: the server comes back only later.
  at.signal('SIGCONT');
  await sleep(awayMs);
  if (victim === 'database') await servers.cluster?.restart();
  else await servers.temporal?.restart();
}

/** Waits until the part has ended its work and itself, then starts its successor. */
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

async function batchOf({ env }: CrashServers, file: string): Promise<string> {
  return batchIdOf(env['LOTE_APPLICATION'] ?? '', file, await hashFile(file));
}

/** Returns the result of the batch, or a text if the batch failed. */
async function batchEnd(client: Client, batchId: string): Promise<BatchResult | string> {
  const handle = client.workflow.getHandle<typeof invoiceBatch>(batchId);
  try {
    return await awaitResult(handle);
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
  await at.said('CRASH_AT: stopped at');
  // The part writes this line just before it stops: a SIGCONT in between would be lost, and the part would never go on.
  await until(async () => (await stateOf(at.pid)) === 'T');
}

/** Rejects if the run ends. A run that found no worker proves nothing: the batch may still reach the point. */
async function neverReached(run: RunningCommand, { point }: CrashCase): Promise<never> {
  const { code, stderr } = await run.end;
  if (code === EXIT_OF_RUN.nobodyThere) return new Promise(() => undefined);
  throw new Error(`The run ended before ${point} was reached: exit ${code}, ${stderr}`);
}

type CrashServers = NonNullable<Awaited<ReturnType<typeof crashServers>>>;

/** Longer than the time in which a page polls by itself: otherwise Lote would never signal a page. */
const SETTLE_MS = 3_000;

/**
 * The processes of one crash lane, and the servers that it may end. Null if the machine has no PostgreSQL. `ownServers` is
 * false for a test that ends no server.
 */
async function crashServers({ pageSize = 30, ownServers = true }) {
  const cluster = ownServers ? await startPostgresCluster() : null;
  const postgresUrl = ownServers ? cluster?.url : inject('postgresUrl');
  if (postgresUrl === null || postgresUrl === undefined) return null;
  const temporal = ownServers ? await ownTemporal() : null;
  const booked = bookedLines(SETTLE_MS);
  const fleet = await startFleet({
    ...{ postgresUrl, webhooks: true, sandbox: { latencyMs: 5, settleMs: SETTLE_MS, engine: booked.engine } },
    ...(temporal !== null && { temporalAddress: temporal.server.address }),
    env: { LOTE_PAGE_SIZE: String(pageSize), LOTE_SETTLE_TIMEOUT: '3m' },
  });
  return {
    ...{ ...fleet, cluster, temporal, booked },
    async remove() {
      await fleet.remove();
      await temporal?.stop();
      await cluster?.stop();
    },
  };
}
