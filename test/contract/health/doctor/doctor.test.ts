import { copyFile, mkdir, readdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Connection, type ScheduleHandle } from '@temporalio/client';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { LAST_VERSION_OF_0_1_0, SCHEMA_VERSION } from '../../../../src/ledger/migrate.ts';
import { readConfig } from '../../../../src/app/config/config.ts';
import { createLogger } from '../../../../src/app/process/logger.ts';
import type { Sandbox } from '../../../../src/sandbox/sandbox.ts';
import { openLedger } from '../../../../src/app/account/open-ledger.ts';
import { sendingScope } from '../../../../src/app/account/sending-guard.ts';
import { openSendLog } from '../../../../src/app/account/send-log.ts';
import type { Check } from '../../../../src/health/doctor/check.ts';
import { examine } from '../../../../src/health/doctor/doctor.ts';
import { createCommonFolders } from '../../../../src/app/folders/common-folders.ts';
import { startProcess } from '../../../../src/app/start/start-process.ts';
import { connectClient } from '../../../../src/app/temporal/temporal-connection.ts';
import { workerIdentity, workerScope } from '../../../../src/app/temporal/queue-pollers.ts';
import {
  ensureReconciliationSchedule,
  reconciliationId,
} from '../../../../src/app/schedules/reconciliation-schedule.ts';
import { ownName } from '../../../support/files/batch-file.ts';
import { smallDisk } from '../../../support/crash/small-disk.ts';
import { newPlace, type Place } from '../../../support/lote/lote-command.ts';
import { httpsServer } from '../../../support/servers/self-signed.ts';
import { postgresDatabase, type PostgresDatabase } from '../../../support/servers/postgres-database.ts';
import { independentSandbox } from '../../../support/servers/service-front.ts';
import { sandboxEnv, sharedTemporal } from '../../../support/lote/running-lote.ts';
import { doctorTable } from '../../../../src/cli/commands/doctor.ts';

type Env = Readonly<Record<string, string>>;

const server = inject('postgresUrl');
const HOUR_MS = 3_600_000;
const NOBODY = '127.0.0.1:1';
const log = createLogger({ level: 'silent', secrets: [] });

let place: Place;
let database: PostgresDatabase;
let sandbox: Sandbox;
/** Of an installation in which nothing is wrong. */
let well: Env;

/** All that a worker and a receiver leave behind and keep up, with real parts. */
beforeAll(async () => {
  if (server === null) return;
  place = await newPlace();
  database = await postgresDatabase(server);
  sandbox = await independentSandbox();
  const folders = { ...(await sandboxEnv(place, sandbox)), DATABASE_URL: database.url };
  well = { ...folders, ...sharedTemporal() };
  const config = readConfig(well);
  const { application } = config;
  const receiver = await startProcess({ config, log, roles: ['receiver'], own: null });
  const client = await connectClient({ address: inject('temporalAddress') }, 'default');
  await ensureReconciliationSchedule(client, config, log);
  const ledger = await openLedger({ databaseUrl: database.url, directory: '' });
  await createCommonFolders({ config, ledger })?.join();
  const scope = workerScope(ledger.id, { application });
  await poll(config.taskQueue, workerIdentity(scope, { pid: 1, own: 'a', build: '0.0.0+a' }));
  await ledger.close();
  close = async () => {
    await client.schedule.getHandle(reconciliationId(config)).delete();
    await client.connection.close();
    await receiver.stop();
  };
});

let close = (): Promise<void> => Promise.resolve();

afterAll(async () => {
  if (server === null) return;
  await close();
  await sandbox.close();
  await database.drop();
  await place.remove();
});

/** A worker's question for work: with it the server lists the worker. */
async function poll(taskQueue: string, identity: string): Promise<void> {
  const client = await connectClient({ address: inject('temporalAddress') }, 'default');
  try {
    await client.connection.withDeadline(Date.now() + 2_500, () =>
      client.workflowService.pollWorkflowTaskQueue({
        ...{ namespace: 'default', taskQueue: { name: taskQueue, kind: 1 }, identity },
      }),
    );
  } finally {
    await client.connection.close();
  }
}

/** Asks again when the check is not there: a server that is busy with other tests may not answer in time, and doctor says so. */
async function examinedFor(name: string, env: Env, now: () => number): Promise<readonly Check[]> {
  const checks = await examine(env, now);
  return checks.some((check) => check.name === name) ? checks : examine(env, now);
}

/** An application and a task queue of its own, as `well`, with its reconciliation changed by `change`. */
async function reconciled(change: (schedule: ScheduleHandle) => Promise<unknown>): Promise<Env> {
  const name = ownName('doctor');
  const env = { LOTE_TASK_QUEUE: name, LOTE_APPLICATION: name };
  const config = readConfig({ ...well, ...env });
  const client = await connectClient({ address: inject('temporalAddress') }, 'default');
  onTestFinished(() => client.connection.close());
  await ensureReconciliationSchedule(client, config, log);
  const schedule = client.schedule.getHandle(reconciliationId(config));
  onTestFinished(async () => schedule.delete().catch(() => undefined));
  await change(schedule);
  await poll(name, 'a worker');
  return env;
}

/** The ledger's database with one part of its address changed. */
function databaseUrl(change: (url: URL) => void): Env {
  const url = new URL(database.url);
  change(url);
  return { DATABASE_URL: url.href };
}

/** A ledger of its own that a statement has changed. */
async function changedLedger(statement: string): Promise<Env> {
  const other = await postgresDatabase(server ?? '');
  onTestFinished(() => other.drop());
  await openLedger({ databaseUrl: other.url, directory: '' }).then((ledger) => ledger.close());
  await other.rows(statement);
  return { DATABASE_URL: other.url };
}

async function rowsOf<Row extends object>(url: string, text: string): Promise<readonly Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
}

/** The server asks one user for a password, and nobody else. */
async function wrongPassword(): Promise<Env> {
  const user = ownName('locked').replaceAll('-', '_');
  await database.rows(`CREATE ROLE ${user} LOGIN PASSWORD 'right'`);
  onTestFinished(async () => void (await database.rows(`DROP ROLE ${user}`)));
  const [hba] = await database.rows<{ path: string; text: string }>(
    "SELECT current_setting('hba_file') AS path, pg_read_file(current_setting('hba_file')) AS text",
  );
  const lines = [`host all ${user} 127.0.0.1/32 scram-sha-256`, ...(hba?.text ?? '').split('\n')];
  const rows = lines.map((line) => `('${line.replaceAll(/['\t]/g, ' ')}')`).join(',');
  await database.rows(`COPY (VALUES ${rows}) TO '${hba?.path ?? ''}'`);
  await database.rows('SELECT pg_reload_conf()');
  return databaseUrl((url) => {
    url.username = user;
    url.password = 'not-the-password';
  });
}

/** The server has a namespace that knows nothing of Lote. */
async function newNamespace(): Promise<Env> {
  const namespace = ownName('ns');
  const connection = await Connection.connect({ address: inject('temporalAddress') });
  onTestFinished(() => connection.close());
  const workflowExecutionRetentionPeriod = { seconds: 86_400 } as never;
  await connection.workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod });
  return { TEMPORAL_NAMESPACE: namespace };
}

async function file(name: string, text: string): Promise<string> {
  const path = join(place.directory, name);
  await writeFile(path, text);
  return path;
}

/** Something that answers everything, with a clock of its own. */
async function otherProgram(aheadMs = 0): Promise<string> {
  const http = createServer((_, response) => {
    response.setHeader('date', new Date(Date.now() + aheadMs).toUTCString()).end();
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void http.close());
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
}

async function disk(use: (path: string, readOnly: () => void) => Env): Promise<Env | null> {
  const small = await smallDisk(1);
  if (small === null) return null;
  onTestFinished(() => small.remove());
  return use(small.path, () => small.readOnly(true));
}

/** A folder in which the reports of a later state of the ledger lie. */
async function laterReports(): Promise<Env> {
  const LOTE_REPORTS_DIR = join(place.directory, 'later');
  const scope = sendingScope(readConfig(well)) ?? '';
  await mkdir(LOTE_REPORTS_DIR, { recursive: true });
  for (const mark of await readdir(place.reportsDir))
    await copyFile(join(place.reportsDir, mark), join(LOTE_REPORTS_DIR, mark));
  const at = Date.now() - 30 * HOUR_MS;
  await openSendLog(LOTE_REPORTS_DIR).append(
    { scope, position: 3, at },
    [{ identity: 'one', idempotencyKey: 'k' }],
    [],
  );
  return { LOTE_REPORTS_DIR };
}

/** The ledger has sent, and the reports folder is an empty one, as where its disk is not mounted. */
async function unmountedReports(): Promise<Env> {
  const LOTE_REPORTS_DIR = join(place.directory, 'mount-point');
  await mkdir(LOTE_REPORTS_DIR, { recursive: true });
  const scope = sendingScope(readConfig(well)) ?? '';
  const sent = `INSERT INTO fact (key, value) VALUES ('sent ${scope}', '3')`;
  return { ...(await changedLedger(sent)), LOTE_REPORTS_DIR };
}

type Seeded = Env | null;
type Mistake = readonly [
  mistake: string,
  check: string,
  cure: RegExp,
  seed: Env | (() => Seeded | Promise<Seeded>),
  clock?: () => number,
];

const MISTAKES: readonly Mistake[] = [
  ['a variable that is no duration', 'configuration', /docs\/configuration/, { LOTE_SEND_TIMEOUT: '15' }],
  [
    'a key file that cannot be read',
    'configuration',
    /Correct the variables/,
    { INVOICING_API_KEY: '', INVOICING_API_KEY_FILE: '/no/such/file' },
  ],
  [
    'a profile that does not parse',
    'service profile file',
    /lote profile check/,
    async () => ({ SERVICE_PROFILE: await file('bad.json', '{ "limits": ') }),
  ],
  [
    'a database port on which nothing listens',
    'ledger',
    /host and port in DATABASE_URL/,
    () => databaseUrl((url) => (url.port = '1')),
  ],
  ['a database password that is wrong', 'ledger', /user and password in DATABASE_URL/, wrongPassword],
  [
    'a database that is not there',
    'ledger',
    /Create it, or correct the name/,
    () => databaseUrl((url) => (url.pathname = '/nothing')),
  ],
  [
    'a database server whose name is unknown',
    'ledger',
    /host in DATABASE_URL/,
    () => databaseUrl((url) => (url.hostname = 'no-such-host.invalid')),
  ],
  [
    'a ledger of Lote 0.1.0',
    'ledger schema',
    /Finish its batches with Lote 0\.1\.0/,
    () => changedLedger(`UPDATE ledger_migration SET version = ${LAST_VERSION_OF_0_1_0}`),
  ],
  [
    'a ledger that a newer Lote wrote',
    'ledger schema',
    /Install the newer Lote/,
    () => changedLedger(`INSERT INTO ledger_migration VALUES (${SCHEMA_VERSION + 1})`),
  ],
  ['a clock that is not that of the database', 'ledger clock', /NTP/, {}, () => Date.now() + HOUR_MS],
  ['a ledger that is older than what was sent', 'ledger age', /lote confirm-ledger/, laterReports],
  ['a reports folder that is not mounted', 'ledger age', /Mount the reports folder/, unmountedReports],
  ['a Temporal port on which nothing listens', 'temporal', /correct TEMPORAL_ADDRESS/, { TEMPORAL_ADDRESS: NOBODY }],
  [
    'a namespace that is not there',
    'temporal namespace',
    /namespace create --namespace lost/,
    { TEMPORAL_NAMESPACE: 'lost' },
  ],
  [
    'a namespace without search attributes',
    'search attributes',
    /search-attribute create --name LoteBatch/,
    newNamespace,
  ],
  ['a task queue without a worker', 'worker', /lote worker.*LOTE_TASK_QUEUE/, { LOTE_TASK_QUEUE: 'nobody' }],
  ['another application than that of the workers', 'worker', /LOTE_TASK_QUEUE/, { LOTE_APPLICATION: 'mistyped' }],
  [
    'a missing schedule of the reconciliation, while a worker polls',
    'reconciliation',
    /Start Lote again.*lote reconcile/,
    () => reconciled((schedule) => schedule.delete()),
  ],
  [
    'a reconciliation that is paused',
    'reconciliation',
    /temporal schedule toggle .*--unpause/,
    () => reconciled((schedule) => schedule.pause('somebody looks at it')),
  ],
  [
    'a service whose name is unknown',
    'service name',
    /host of INVOICING_BASE_URL/,
    { INVOICING_BASE_URL: 'https://no-such-host.invalid' },
  ],
  [
    'a service whose certificate has expired',
    'service certificate',
    /renew/,
    async () => ({ INVOICING_BASE_URL: await httpsServer('expired') }),
  ],
  [
    'a service whose certificate is signed by itself',
    'service certificate',
    /NODE_EXTRA_CA_CERTS/,
    async () => ({ INVOICING_BASE_URL: await httpsServer('valid') }),
  ],
  ['a service that nobody answers for', 'service', /firewall/, { INVOICING_BASE_URL: `http://${NOBODY}` }],
  [
    'a service whose clock is another',
    'clock',
    /NTP/,
    async () => ({ INVOICING_BASE_URL: await otherProgram(HOUR_MS) }),
  ],
  ['a key that the service refuses', 'service', /INVOICING_API_KEY/, { INVOICING_API_KEY: 'sk_test_nobody' }],
  [
    'a webhook secret that is missing',
    'webhook secret',
    /WEBHOOK_SECRET_FILE/,
    async () => ({ SERVICE_PROFILE: await file('by-hand.json', '{ "webhook": { "register": false } }') }),
  ],
  ['a public address without an answer', 'receiver', /lote receiver/, { WEBHOOK_URL: `http://${NOBODY}/webhooks` }],
  [
    'a public address that leads to another program',
    'receiver',
    /RECEIVER_HOST:RECEIVER_PORT/,
    async () => ({ WEBHOOK_URL: `${await otherProgram()}/webhooks` }),
  ],
  [
    'a public address that leads to another Lote',
    'receiver',
    /LOTE_APPLICATION of that receiver/,
    { LOTE_APPLICATION: 'other' },
  ],
  [
    'an input folder that is a file',
    'input folder',
    /LOTE_INPUT_DIR/,
    async () => ({ LOTE_INPUT_DIR: await file('a-file', '') }),
  ],
  [
    'a reports folder that is not the common one',
    'reports folder',
    /Mount the folder/,
    () => ({ LOTE_REPORTS_DIR: join(place.directory, 'empty') }),
  ],
  [
    'a data directory on a read-only disk',
    'data directory',
    /can be written/,
    () => disk((LOTE_DATA_DIR, readOnly) => (readOnly(), { LOTE_DATA_DIR })),
  ],
  [
    'a data directory on a disk without room',
    'data directory: disk',
    /Make room/,
    () => disk((LOTE_DATA_DIR) => ({ LOTE_DATA_DIR })),
  ],
];

describe.skipIf(server === null)('lote doctor', () => {
  it('finds nothing where nothing is wrong, sends nothing, and makes no folder', async () => {
    const LOTE_DATA_DIR = join(place.directory, 'not made yet');

    const checks = await examine({ ...well, LOTE_DATA_DIR });

    expect(checks.filter(({ state }) => state === 'trouble')).toEqual([]);
    expect(checks.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['ledger', 'ledger schema', 'temporal', 'worker', 'service', 'clock', 'receiver']),
    );
    expect(sandbox.books().totals).toMatchObject({ invoices: 0 });
    expect(await readdir(place.directory)).not.toContain('not made yet');
  });

  it.each(MISTAKES.map(([mistake, name, cure, seed, now = Date.now]) => ({ mistake, name, cure, seed, now })))(
    'finds $mistake, and names the cure',
    async ({ name, cure, seed, now }) => {
      const seeded = typeof seed === 'function' ? await seed() : seed;
      if (seeded === null) return;

      const checks = await examinedFor(name, { ...well, ...seeded }, now);

      const found = checks.find((check: Check) => check.name === name);
      expect(found, doctorTable(checks)).toMatchObject({
        state: 'trouble',
        cure: expect.stringMatching(cure) as string,
      });
      expect(doctorTable(checks)).not.toMatch(/not-the-password|sk_test_/);
    },
  );

  it('leaves a ledger of Lote 0.1.0 as it is', async () => {
    const { DATABASE_URL = '' } = await changedLedger(`UPDATE ledger_migration SET version = ${LAST_VERSION_OF_0_1_0}`);

    await examine({ ...well, DATABASE_URL });

    const rows = await rowsOf<{ version: number }>(
      DATABASE_URL,
      'SELECT max(version) AS version FROM ledger_migration',
    );
    expect(rows[0]?.version).toBe(LAST_VERSION_OF_0_1_0);
  });
});
