import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { forTest } from '../support/lifetime.ts';
import { dataDirAt } from '../../src/app/data-dir/data-dir.ts';
import { readEndpoints } from '../../src/app/data-dir/endpoints-file.ts';
import { temporalProcess } from '../support/namespaces.ts';
import { gatedEngine, type GatedEngine } from '../support/servers/service-front.ts';
import type { RunningCommand } from '../support/lote/lote-command.ts';
import { batchesOf, documentOf, lotePlace, sharedTemporal, type LotePlace } from '../support/lote/running-lote.ts';
import { until, untilOr } from '../support/until.ts';

/** 64 requests at a time are 320 invoices a second: a command is struck or told to leave while it sends. */
const LATENCY_MS = 200;

describe('one data directory, several commands', () => {
  let place: LotePlace;
  let engine: GatedEngine;
  let env: Record<string, string>;

  beforeEach(async () => {
    engine = gatedEngine();
    const sandbox = { latencyMs: LATENCY_MS, engine: engine.engine };
    place = await forTest(lotePlace({ sandbox, temporal: 'own', env: { LOTE_SETTLE_TIMEOUT: '200s' } }));
    env = { ...place.env };
  });

  const start = (...parameters: readonly string[]): RunningCommand => place.all.start(parameters, env);

  it('are one owner and others that hand their work over, and go on by themselves when it has left', async () => {
    env = { ...env, ...sharedTemporal() };
    // Nothing settles before a test opens the engine, and the whole file must go out.
    await start('confirm-service', '--profile').end;
    const [first, second] = [await fileOf('first', 30), await fileOf('second', 60)];
    const owner = start('run', first, '--json');
    await sent(owner, 30);

    const other = start('run', second, '--json');
    await sent(other, 31);
    const token = await stat(join(place.dataDir, 'console-token'));
    const status = await start('status', '--json').end;
    // The owner's own batch ends while the other's is still open.
    engine.open(30);
    const ownerEnd = await owner.end;
    // The other command has become the owner, and listens for deliveries.
    await until(async () => (await readEndpoints(dataDirAt(place.dataDir))) !== null);
    engine.open();
    const report = await start(
      'report',
      batchesOf(status).find(({ id }) => id.includes('second'))?.id ?? '',
      '--follow',
      '--json',
    ).end;
    const otherEnd = await other.end;

    expect(token.mode & 0o777).toBe(0o600);
    expect(status.code, status.stderr).toBe(0);
    expect(report.code, report.stderr).toBe(0);
    expect([ownerEnd.code, otherEnd.code], ownerEnd.stderr + otherEnd.stderr).toEqual([0, 0]);
    expect(batchesOf(ownerEnd)).toMatchObject([{ counts: { issued: 30 } }]);
    expect(batchesOf(otherEnd)).toMatchObject([{ counts: { issued: 60 } }]);
    place.expectIssued(90);
  });

  it('take over when the owner is killed, go on with its file, and wait for their own file only', async () => {
    // Nothing settles before a test opens the engine, and the whole file must go out.
    await start('confirm-service', '--profile').end;
    const [first, second] = [await fileOf('first', 60), await fileOf('second', 120)];
    const owner = start('run', first, '--json');
    await sent(owner, 10);
    const other = start('run', second, '--json');
    await sent(other, 70);

    owner.killGroup();
    const again = start('run', first, '--json');
    await again.said('first');
    engine.open();
    const [otherEnd, againEnd] = await Promise.all([other.end, again.end]);

    expect(otherEnd.code, otherEnd.stderr).toBe(0);
    expect(batchesOf(otherEnd)).toMatchObject([{ counts: { issued: 120 } }]);
    expect(againEnd.code, againEnd.stderr).toBe(0);
    expect(batchesOf(againEnd)).toMatchObject([{ counts: { issued: 60 } }]);
    place.expectIssued(180);
  });

  it('leave at Ctrl-C after the slices in flight, at a second one at once whatever does not end, and nothing of theirs lives on', async () => {
    engine.open();
    const file = await fileOf('interrupted', 480);
    // Small pages: what is in flight at any moment is far less than the file.
    env = { ...env, LOTE_PAGE_SIZE: '20' };
    // The rest takes seconds, so that a signal on a busy machine still finds invoices to send.
    place.front.script = ({ path }) => (path === '/v1/invoices' ? sleep(500).then(() => 'pass' as const) : 'pass');
    const once = start('run', file, '--json');
    await sent(once, 100);
    const server = await temporalProcess(place.dataDir);
    once.signal('SIGINT');
    const onceEnd = await once.end;
    const leftByOnce = await temporalProcess(place.dataDir);
    const onceSent = place.sandbox.books().totals.invoices;
    const twice = start('run', file, '--json');
    await sent(twice, onceSent + 1);
    twice.signal('SIGINT');
    await twice.said('Leaving');
    twice.signal('SIGINT');
    const twiceEnd = await twice.end;
    place.front.script = () => 'pass';
    await until(async () => (await temporalProcess(place.dataDir)) === null);

    const up = start('up');
    await up.said('Console');
    const last = await start('run', file, '--json').end;
    const upServer = Number(await temporalProcess(place.dataDir));
    // A server that answers nothing: the worker has no end to wait for.
    process.kill(upServer, 'SIGSTOP');
    // Ctrl-\ leaves in order, too.
    up.signal('SIGQUIT');
    await up.said('Leaving');
    up.signal('SIGINT');
    const upEnd = await up.end;

    expect(onceEnd.code, onceEnd.stderr).toBe(130);
    expect(documentOf(onceEnd)).toMatchObject({ batches: [], error: { code: 'interrupted' } });
    expect(server).not.toBeNull();
    expect(leftByOnce).toBeNull();
    expect(twiceEnd.code, twiceEnd.stderr).toBe(130);
    expect(last.code, last.stderr).toBe(0);
    place.expectIssued(480);
    expect(upEnd.code, upEnd.stderr).toBe(130);
    // It was killed; the system may need a moment to take it away.
    await until(async () => (await temporalProcess(place.dataDir)) === null);
  });

  it('is left by `lote up` while it starts, and its Temporal server ends with it', async () => {
    const up = start('up');
    await up.said('Temporal at');
    const server = await temporalProcess(place.dataDir);

    up.signal('SIGTERM');
    const end = await up.end;

    expect(server).not.toBeNull();
    expect(end.code, end.stderr).toBe(143);
    await until(async () => (await temporalProcess(place.dataDir)) === null);
  });

  function fileOf(name: string, invoices: number): Promise<string> {
    return place.file(`${name}.csv`, { invoices, series: name });
  }

  /** By progress, not by time. */
  async function sent(by: RunningCommand, invoices: number): Promise<void> {
    const found = await untilOr(by.end, () => place.sandbox.books().totals.invoices >= invoices);
    expect(found, 'the command ended too early').toBe(true);
  }
});
