import { mkdir } from 'node:fs/promises';
import { beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { acquireDirectoryLock } from '../../src/app/data-dir/directory-lock.ts';
import { forTest, shared } from '../support/lifetime.ts';
import { testFleet } from '../support/lote/fleet.ts';
import { silentServer } from '../support/servers/proxies.ts';
import { processes } from '../support/lote/lote-command.ts';
import { lotePlace } from '../support/lote/running-lote.ts';

const BATCH = 'batch-silent-00000000';
/** Every command that needs another process; `FILE` stands for a file of invoices. */
const COMMANDS = {
  run: ['run', 'FILE'],
  retry: ['retry', BATCH],
  reconcile: ['reconcile'],
  'nightly now': ['nightly', 'now'],
  'nightly on': ['nightly', 'on', '--at', '02:00', '--timezone', 'Europe/Lisbon'],
  'nightly show': ['nightly', 'show'],
  'nightly off': ['nightly', 'off'],
  status: ['status'],
  find: ['find', 'F/1'],
  report: ['report', BATCH],
  purge: ['purge', '--older-than', '400d'],
  'confirm-total': ['confirm-total', BATCH, '--invoices', '3', '--reason', 'counted'],
  'confirm-service': ['confirm-service'],
  'confirm-ledger': ['confirm-ledger'],
  doctor: ['doctor'],
  up: ['up'],
  worker: ['worker'],
  receiver: ['receiver'],
  console: ['console'],
} as const;

type Command = keyof typeof COMMANDS;

const OPERATING = ['run', 'retry', 'reconcile', 'nightly now', 'confirm-total'] as const;
const READING = ['status', 'find', 'report'] as const;
const NIGHTS = ['nightly on', 'nightly show', 'nightly off'] as const;
const CONFIRMING = ['confirm-service', 'confirm-ledger'] as const;

describe('each command says what it waits for', () => {
  /** No service listens at its address. */
  const place = shared(() => lotePlace({ env: { INVOICING_BASE_URL: 'http://127.0.0.1:9' } }));
  let env: Record<string, string>;
  let file: string;
  const silent = shared(silentServer);
  const noPostgres = inject('postgresUrl') === null;

  beforeAll(async () => {
    env = { ...place.env };
    delete env['WEBHOOK_URL'];
    file = await place.file('silent.csv', { invoices: 3 });
  });

  /** Starts them all, and resolves when each has said the words. Rejects when one has ended, or is silent, without them. */
  async function expectSaid(commands: readonly Command[], env: Readonly<Record<string, string>>, words: string) {
    const all = processes();
    onTestFinished(() => all.killAll());
    const running = commands.map((name) => {
      const parameters = COMMANDS[name].map((one) => (one === 'FILE' ? file : one));
      return { name, command: all.start(parameters, env) };
    });
    const silentOnes: string[] = [];
    for (const { name, command } of running)
      await command.said(words).catch(() => silentOnes.push(`${name}: ${command.output()}`));
    expect(silentOnes).toEqual([]);
  }

  it('a ledger that does not answer', async () => {
    const hanging = {
      ...env,
      DATABASE_URL: `postgres://lote:x@${silent.address}/lote`,
      TEMPORAL_ADDRESS: silent.address,
    };
    const long = ['purge', 'doctor', 'up', 'worker', 'receiver', 'console'] as const;

    await expectSaid([...OPERATING, ...READING, ...CONFIRMING, ...long], hanging, 'Waiting for the ledger');
  });

  it.skipIf(noPostgres)('a Temporal server that does not answer', async () => {
    const fleet = await testFleet({ temporalAddress: silent.address });

    await expectSaid(
      [...OPERATING, ...NIGHTS, 'worker', 'receiver'],
      fleet.env,
      `Waiting for Temporal at ${silent.address}`,
    );
  });

  it.skipIf(noPostgres)('a worker that is not there', async () => {
    await expectSaid(OPERATING, (await testFleet()).clientEnv, 'Waiting for a worker');
  });

  it.each(['run', 'nightly now', 'reconcile'] as const)('a service that does not answer: %s', async (name) => {
    const own = await forTest(lotePlace({ env: { INVOICING_BASE_URL: `http://${silent.address}` } }));

    await expectSaid([name], own.env, 'Waiting for the invoicing service');
  });

  it('an owner of the data directory that has only begun to start', async () => {
    await mkdir(place.dataDir, { recursive: true });
    const lock = await acquireDirectoryLock(place.dataDir);
    onTestFinished(async () => lock?.release());

    await expectSaid([...OPERATING, ...READING, 'purge'], env, 'Waiting for the process that owns');
  });

  it('an owner of the data directory that is stopped', async () => {
    const own = await forTest(lotePlace());
    const owner = own.start('up');
    await owner.said('Console');
    owner.signal('SIGSTOP');

    await expectSaid([...OPERATING, ...READING, 'purge'], own.env, 'Waiting for the process that owns');
  });
});
