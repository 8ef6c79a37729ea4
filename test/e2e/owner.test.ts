import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { processStartTime } from '../../src/runtime/process/process-start-time.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { endLeftServer } from '../support/crash/crash-place.ts';
import { gatedEngine, type GatedEngine } from '../support/crash/gated-engine.ts';
import { writeInvoiceFile } from '../support/files/invoice-file.ts';
import { newPlace, runLote, type Place, type RunningCommand } from '../support/lote/lote-command.ts';
import { processes, type Processes } from '../support/lote/processes.ts';
import { independentSandbox } from '../support/servers/sandbox-books.ts';
import { sandboxEnv } from '../support/servers/sandbox-env.ts';
import { sharedTemporal } from '../support/servers/shared-temporal.ts';
import { until } from '../support/until.ts';

/** Each look reads the whole books. */
const POLL_INTERVAL_MS = 50;
/** 64 requests at a time are 320 invoices a second: a command is struck or told to leave while it sends. */
const LATENCY_MS = 200;

interface RunDocument {
  readonly batches: readonly { readonly id: string; readonly counts: Readonly<Record<string, number>> }[];
  readonly error?: { readonly code: string };
}

function documentOf(stdout: string): RunDocument {
  return JSON.parse(stdout) as RunDocument;
}

describe('one data directory, several commands', { timeout: 300_000 }, () => {
  let place: Place;
  let engine: GatedEngine;
  let sandbox: Sandbox;
  let all: Processes;
  let env: Record<string, string>;

  beforeEach(async () => {
    place = await newPlace();
    all = processes();
    engine = gatedEngine();
    sandbox = await independentSandbox({ latencyMs: LATENCY_MS, engine: engine.engine });
    env = {
      ...(await sandboxEnv(place, sandbox)),
      LOTE_SETTLE_TIMEOUT: '200s',
    };
  });

  afterEach(async () => {
    await all.killAll();
    // A server that a killed command left behind would outlive the test.
    await endLeftServer(place.dataDir);
    await sandbox.close();
    await place.remove();
  });

  it('are one owner and others that hand their work over: it stays until that has ended', async () => {
    env = { ...env, ...sharedTemporal() };
    const [first, second] = [await fileOf('first', 30), await fileOf('second', 60)];
    const owner = all.start(['run', first, '--json'], env);
    await sent(owner, 30);

    const other = all.start(['run', second, '--json'], env);
    await sent(other, 31);
    const token = await stat(join(place.dataDir, 'console-token'));
    const status = await runLote(['status', '--json'], env);
    // The owner's own batch ends after the other's work was handed over, and before that has ended.
    engine.open(30);
    await owner.said('Staying until');
    engine.open();
    const report = await runLote(['report', batchIdOf(status.stdout, 'second'), '--follow', '--json'], env);
    const [ownerEnd, otherEnd] = await Promise.all([owner.end, other.end]);

    expect(token.mode & 0o777).toBe(0o600);
    expect(status.code, status.stderr).toBe(0);
    expect(report.code, report.stderr).toBe(0);
    expect([ownerEnd.code, otherEnd.code], ownerEnd.stderr + otherEnd.stderr).toEqual([0, 0]);
    expect(documentOf(ownerEnd.stdout).batches).toMatchObject([{ counts: { issued: 30 } }]);
    expect(documentOf(otherEnd.stdout).batches).toMatchObject([{ counts: { issued: 60 } }]);
    expectIssuedOnce(90);
  });

  it('take over when the owner is killed, go on with its file, say so, and wait for their own file only', async () => {
    const [first, second] = [await fileOf('first', 60), await fileOf('second', 120)];
    const owner = all.start(['run', first, '--json'], env);
    await sent(owner, 10);
    const other = all.start(['run', second, '--json'], env);
    await sent(other, 70);

    owner.killGroup();
    await other.said('Also going on with what an earlier run left');
    const again = all.start(['run', first, '--json'], env);
    await again.said('first');
    engine.open();
    const [otherEnd, againEnd] = await Promise.all([other.end, again.end]);

    expect(otherEnd.code, otherEnd.stderr).toBe(0);
    expect(otherEnd.stderr).toMatch(
      /Also going on with what an earlier run left: \S*batch-first-\S*\. It is not waited for/,
    );
    expect(documentOf(otherEnd.stdout).batches).toMatchObject([{ counts: { issued: 120 } }]);
    expect(againEnd.code, againEnd.stderr).toBe(0);
    expect(documentOf(againEnd.stdout).batches).toMatchObject([{ counts: { issued: 60 } }]);
    expectIssuedOnce(180);
  });

  it('leave at Ctrl-C after the slices in flight, at a second one at once whatever does not end, and nothing of theirs lives on', async () => {
    engine.open();
    const file = await fileOf('interrupted', 480);
    // Small pages: what is in flight at any moment is far less than the file.
    env = { ...env, LOTE_PAGE_SIZE: '20' };
    const once = all.start(['run', file, '--json'], env);
    await sent(once, 100);
    const server = await temporalProcess();
    once.signal('SIGINT');
    const onceEnd = await once.end;
    const onceSent = sandbox.books().totals.invoices;
    const twice = all.start(['run', file, '--json'], env);
    await sent(twice, onceSent + 1);
    const secondServer = await temporalProcess();
    twice.signal('SIGINT');
    await twice.said('Leaving');
    twice.signal('SIGINT');
    const twiceEnd = await twice.end;

    const up = all.start(['up'], env);
    await up.said('Console');
    const last = await runLote(['run', file, '--json'], env);
    const upServer = await temporalProcess();
    // A server that answers nothing: the worker has no end to wait for.
    process.kill(upServer, 'SIGSTOP');
    // Ctrl-\ leaves in order, too.
    up.signal('SIGQUIT');
    await up.said('Leaving');
    up.signal('SIGINT');
    const upEnd = await up.end;

    expect(onceEnd.code, onceEnd.stderr).toBe(130);
    expect(documentOf(onceEnd.stdout)).toMatchObject({ batches: [], error: { code: 'interrupted' } });
    expect(await processStartTime(server)).toBeNull();
    expect(twiceEnd.code, twiceEnd.stderr).toBe(130);
    expect(await processStartTime(secondServer)).toBeNull();
    expect(last.code, last.stderr).toBe(0);
    expectIssuedOnce(480);
    expect(upEnd.code, upEnd.stderr).toBe(130);
    // It was killed; the system may need a moment to take it away.
    await until(async () => (await processStartTime(upServer)) === null);
  });

  it('is left by `lote up` while it starts, and its Temporal server ends with it', async () => {
    const up = all.start(['up'], env);
    await up.said('Temporal at');
    const server = await temporalProcess();

    up.signal('SIGTERM');
    const end = await up.end;

    expect(end.code, end.stderr).toBe(143);
    await until(async () => (await processStartTime(server)) === null);
  });

  async function fileOf(name: string, invoices: number): Promise<string> {
    const file = join(place.inputDir, `${name}.csv`);
    await writeInvoiceFile(file, { invoices, series: name });
    return file;
  }

  /** By progress, not by time. */
  async function sent(by: RunningCommand, invoices: number): Promise<void> {
    const ended = by.end.then(() => true);
    while (sandbox.books().totals.invoices < invoices) {
      if (await Promise.race([ended, sleep(POLL_INTERVAL_MS).then(() => false)])) break;
    }
    expect(sandbox.books().totals.invoices, 'the command ended too early').toBeGreaterThanOrEqual(invoices);
  }

  function batchIdOf(status: string, name: string): string {
    return documentOf(status).batches.find(({ id }) => id.includes(name))?.id ?? '';
  }

  function expectIssuedOnce(invoices: number): void {
    expect(sandbox.books().duplicates).toEqual([]);
    expect(sandbox.books().totals).toMatchObject({ invoices, issued: invoices });
  }

  async function temporalProcess(): Promise<number> {
    const record = JSON.parse(await readFile(join(place.dataDir, 'temporal.json'), 'utf8')) as { pid: number };
    return record.pid;
  }
});
