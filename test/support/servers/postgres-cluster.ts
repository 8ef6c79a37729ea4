import type { ChildProcess } from 'node:child_process';
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { chmod, chown, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { readTree } from '../../../bench/measures/process-tree-usage.ts';
import { ownPort } from './own-port.ts';

export interface PostgresCluster {
  readonly url: string;
  /** The pid of the process that guards the server, which is its child. */
  readonly pid: number;
  /** Sends SIGKILL to the server and its children, like a crash. Resolves when all of them have ended. */
  kill(): Promise<void>;
  /** Starts the server after `kill` on the same data and port. A standby takes no connections until `promote`. */
  restart(as?: 'primary' | 'closed-standby'): Promise<void>;
  promote(): Promise<void>;
  /** Starts a second server that replicates this one and takes no connections until `promote`. */
  standby(): Promise<PostgresCluster>;
  /** Gives a folder to the server's account. */
  own(path: string): Promise<void>;
  stop(): Promise<void>;
}

interface Account {
  readonly uid: number;
  readonly gid: number;
}

/**
 * The server lives as long as this process holds the other end of standard input: a killed test run leaves neither
 * server nor directory. SIGQUIT is "immediate shutdown", because test data need no checkpoint.
 */
const GUARD = '"$@" & server=$!; read -r _; kill -QUIT "$server"; wait "$server"; cd /; rm -rf "$0"';

/** The variable with data of an unused server that trusts all local users: a copy costs a tenth of `initdb`. */
export const TEMPLATE_VARIABLE = 'LOTE_TEST_POSTGRES_TEMPLATE';
const SUPERUSER = 'lote';

const START_TRIES = 200;
const START_PAUSE_MS = 50;

export interface PostgresClusterOptions {
  /** True if commits wait for the disk, as in production. Default false: tests need not wait. */
  readonly durable?: boolean;
  /** Every account then needs its password. By default the server trusts all local users, as the superuser `lote`. */
  readonly superuser?: { readonly name: string; readonly password: string };
  /** Server settings that a test adds. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** Starts a private, temporary PostgreSQL on loopback; null if the machine has no `initdb` and `postgres`. */
export async function startPostgresCluster({
  durable = false,
  superuser,
  settings: added = {},
}: PostgresClusterOptions = {}): Promise<PostgresCluster | null> {
  const binaries = postgresBinaries();
  if (binaries === null) return null;
  const { account, directory } = await serverDirectory();
  const template = superuser === undefined ? process.env[TEMPLATE_VARIABLE] : undefined;
  if (template === undefined) await newData({ binaries, account, directory }, superuser);
  else execFileSync('cp', ['-a', template, join(directory, 'data')]);
  const name = superuser?.name ?? SUPERUSER;
  const port = await ownPort();
  const login = superuser === undefined ? name : `${name}:${encodeURIComponent(superuser.password)}`;
  const settings = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    fsync: durable ? 'on' : 'off',
    // Nine test files run at a time. Some of them run a dozen stacks, each with its own pool.
    max_connections: 400,
    deadlock_timeout: '200ms',
    // A standby without connections answers like a server that is starting.
    hot_standby: 'off',
    ...added,
  };
  const cluster = clusterIn({ binaries, account, directory, login, port, settings });
  await cluster.restart();
  return cluster;
}

/** Makes the data of an unused server for `TEMPLATE_VARIABLE`; null if the machine has no `initdb`. */
export async function postgresTemplate(): Promise<{ readonly path: string; remove(): Promise<void> } | null> {
  const binaries = postgresBinaries();
  if (binaries === null) return null;
  const { account, directory } = await serverDirectory();
  return {
    path: await newData({ binaries, account, directory }),
    remove: () => rm(directory, { recursive: true, force: true }),
  };
}

async function newData(
  { binaries, account, directory }: Pick<ClusterPlace, 'binaries' | 'account' | 'directory'>,
  superuser?: PostgresClusterOptions['superuser'],
): Promise<string> {
  const data = join(directory, 'data');
  const passwordFile = join(directory, 'password');
  await writeFile(passwordFile, superuser?.password ?? '');
  const authentication = superuser === undefined ? ['-A', 'trust'] : ['-A', 'scram-sha-256', '--pwfile', passwordFile];
  execFileSync(
    join(binaries, 'initdb'),
    ['-D', data, '-U', superuser?.name ?? SUPERUSER, ...authentication, '-E', 'UTF8', '--no-sync', '--locale=C'],
    { cwd: directory, ...account, stdio: ['ignore', 'ignore', 'inherit'] },
  );
  return data;
}

/** The files of a server, and the settings of its start. */
interface ClusterPlace {
  readonly binaries: string;
  readonly account: Account | null;
  readonly directory: string;
  readonly login: string;
  readonly port: number;
  readonly settings: Readonly<Record<string, string | number>>;
}

/** Makes a server on existing data, without starting it. */
function clusterIn(place: ClusterPlace): PostgresCluster {
  const { binaries, account, directory, login, port, settings } = place;
  const data = join(directory, 'data');
  const flags = Object.entries({ ...settings, port }).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const command = [join(binaries, 'postgres'), '-D', data, ...flags];
  const url = `postgres://${login}@127.0.0.1:${port}/postgres`;
  const guards: ChildProcess[] = [];
  return {
    url,
    get pid() {
      return guards[0]?.pid ?? -1;
    },
    kill: () => killServer(data),
    async restart(as = 'primary') {
      if (as === 'closed-standby') await writeFile(join(data, 'standby.signal'), '');
      const guard = spawn('sh', ['-c', GUARD, directory, ...command], {
        ...{ cwd: directory, ...account },
        stdio: ['pipe', 'ignore', 'ignore'],
      });
      guards.unshift(guard);
      if (as === 'primary') await untilReady(url, guard);
      else await untilAnswers(url);
    },
    async promote() {
      await writeFile(join(data, 'promote'), '');
      process.kill(await postmasterOf(data), 'SIGUSR1');
      await untilReady(url, guards[0] as ChildProcess);
    },
    async standby() {
      const own = await serverDirectory();
      execFileSync(
        join(binaries, 'pg_basebackup'),
        ['-D', join(own.directory, 'data'), '-d', url, '-R', '--checkpoint=fast', '--no-sync'],
        { cwd: own.directory, ...own.account, stdio: ['ignore', 'ignore', 'inherit'] },
      );
      const other = clusterIn({ ...place, ...own, port: await ownPort() });
      await other.restart('closed-standby');
      return other;
    },
    async own(path) {
      if (account !== null) await chown(path, account.uid, account.gid);
    },
    async stop() {
      // Each guard removes the directory when it ends, so the guard of the running server must end first.
      for (const guard of guards) await stop(guard, directory);
    },
  };
}

/** Makes a folder for a server, which belongs to the server's account. */
async function serverDirectory(): Promise<{ readonly account: Account | null; readonly directory: string }> {
  const account = unprivilegedAccount();
  const directory = await mkdtemp(join(tmpdir(), 'lote-postgres-'));
  if (account !== null) await chown(directory, account.uid, account.gid);
  await chmod(directory, 0o700);
  return { account, directory };
}

async function killServer(data: string): Promise<void> {
  const lock = join(data, 'postmaster.pid');
  const all = (await readTree(await postmasterOf(data))).map(({ pid }) => pid);
  for (const pid of all) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // The backend has ended already, because its client disconnected.
    }
  }
  // PostgreSQL does not start while an old backend still uses the shared memory.
  while ((await Promise.all(all.map(isRunning))).includes(true)) await sleep(START_PAUSE_MS);
  // The guard reaps the server only at its own end, and PostgreSQL takes a zombie for a running server.
  await rm(lock);
}

async function postmasterOf(data: string): Promise<number> {
  return Number((await readFile(join(data, 'postmaster.pid'), 'utf8')).split('\n')[0]);
}

/** Tells whether a process runs. A zombie counts as ended: it holds no resources, and its parent may reap it late. */
async function isRunning(pid: number): Promise<boolean> {
  const state = await stateOf(pid);
  return state !== null && state !== 'Z';
}

/** Returns the letter of a process's state in /proc, such as T for stopped; null if there is no such process. */
export async function stateOf(pid: number): Promise<string | null> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  // The name of the program is in parentheses and may contain any character.
  return text?.slice(text.lastIndexOf(')') + 2)[0] ?? null;
}

/** Returns the folder of `initdb`, `postgres` and `psql`; null if this machine has none. */
export function postgresBinaries(): string | null {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).toSorted((a, b) => Number(b) - Number(a)) : [];
  const folders = [
    ...versions.map((version) => join(debian, version, 'bin')),
    ...(process.env['PATH'] ?? '').split(delimiter),
  ];
  return folders.find((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres'))) ?? null;
}

/** Returns an account for the server, because initdb and postgres refuse to run as root; null if this is not root. */
function unprivilegedAccount(): Account | null {
  if (process.getuid?.() !== 0) return null;
  for (const name of ['postgres', 'nobody']) {
    try {
      return { uid: idOf(name, '-u'), gid: idOf(name, '-g') };
    } catch {
      // This machine has no such account, so the next one is tried.
    }
  }
  throw new Error(
    'Starting PostgreSQL for the tests: as root it needs an account "postgres" or "nobody" to run under, found neither',
  );
}

function idOf(name: string, flag: '-u' | '-g'): number {
  return Number(execFileSync('id', [flag, name], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim());
}

async function untilReady(url: string, server: ChildProcess): Promise<void> {
  for (let attempt = 0; attempt < START_TRIES; attempt += 1) {
    if (server.exitCode !== null)
      throw new Error(`Starting PostgreSQL for the tests: it left with exit code ${server.exitCode}`);
    const client = new pg.Client({ connectionString: url });
    try {
      await client.connect();
      await client.end();
      return;
    } catch {
      await sleep(START_PAUSE_MS);
    }
  }
  throw new Error('Starting PostgreSQL for the tests: it did not accept connections in time');
}

/** Waits until the server answers that it takes no connections (57P03). */
async function untilAnswers(url: string): Promise<void> {
  for (;;) {
    const client = new pg.Client({ connectionString: url });
    const failure: unknown = await client.connect().catch((error: unknown) => error);
    if ((failure as { code?: string } | undefined)?.code === '57P03') return;
    await sleep(START_PAUSE_MS);
  }
}

async function stop(server: ChildProcess, directory: string): Promise<void> {
  if (server.exitCode === null && server.signalCode === null) {
    const ended = new Promise((resolve) => server.once('exit', resolve));
    server.stdin?.end();
    await ended;
  }
  await rm(directory, { recursive: true, force: true });
}
