import { mkdir } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { acquireDirectoryLock } from '../../src/app/data-dir/directory-lock.ts';
import { testFleet } from '../support/lote/fleet.ts';
import { processes } from '../support/lote/lote-command.ts';
import { lotePlace, type LotePlace } from '../support/lote/running-lote.ts';

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

/** The address of a server that accepts connections and says nothing. */
async function silentServer(): Promise<string> {
  const server = createServer((socket) => socket.on('error', () => undefined)).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  server.unref();
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('each command says what it waits for', () => {
  /** No service listens at its address. */
  let place: LotePlace;
  let env: Record<string, string>;
  let file: string;
  let silent: string;
  const noPostgres = inject('postgresUrl') === null;

  beforeAll(async () => {
    place = await lotePlace({ env: { INVOICING_BASE_URL: 'http://127.0.0.1:9' } });
    env = { ...place.env };
    delete env['WEBHOOK_URL'];
    file = await place.file('silent.csv', { invoices: 3 });
    silent = await silentServer();
  });

  afterAll(() => place.remove());

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

  async function ownPlace(more: Readonly<Record<string, string>> = {}): Promise<LotePlace> {
    const own = await lotePlace({ env: more });
    onTestFinished(() => own.remove());
    return own;
  }

  it('a ledger that does not answer', async () => {
    const hanging = { ...env, DATABASE_URL: `postgres://lote:x@${silent}/lote`, TEMPORAL_ADDRESS: silent };
    const long = ['purge', 'doctor', 'up', 'worker', 'receiver', 'console'] as const;

    await expectSaid([...OPERATING, ...READING, ...CONFIRMING, ...long], hanging, 'Waiting for the ledger');
  });

  it.skipIf(noPostgres)('a Temporal server that does not answer', async () => {
    const fleet = await testFleet({ temporalAddress: silent });

    await expectSaid([...OPERATING, ...NIGHTS, 'worker', 'receiver'], fleet.env, `Waiting for Temporal at ${silent}`);
  });

  it.skipIf(noPostgres)('a worker that is not there', async () => {
    await expectSaid(OPERATING, (await testFleet()).clientEnv, 'Waiting for a worker');
  });

  it.each(['run', 'nightly now', 'reconcile'] as const)('a service that does not answer: %s', async (name) => {
    const own = await ownPlace({ INVOICING_BASE_URL: `http://${silent}` });

    await expectSaid([name], own.env, 'Waiting for the invoicing service');
  });

  it('an owner of the data directory that has only begun to start', async () => {
    await mkdir(place.dataDir, { recursive: true });
    const lock = await acquireDirectoryLock(place.dataDir);
    onTestFinished(async () => lock?.release());

    await expectSaid([...OPERATING, ...READING, 'purge'], env, 'Waiting for the process that owns');
  });

  it('an owner of the data directory that is stopped', async () => {
    const own = await ownPlace();
    const owner = own.start('up');
    await owner.said('Console');
    owner.signal('SIGSTOP');

    await expectSaid([...OPERATING, ...READING, 'purge'], own.env, 'Waiting for the process that owns');
  });
});
