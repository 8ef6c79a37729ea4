import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { deployedPostgresSettings } from '../../support/servers/deployed-postgres.ts';
import { COMMAND, startCommand, type CommandEnd, type RunningCommand } from '../../support/lote/lote-command.ts';
import {
  postgresBinaries,
  startPostgresCluster,
  type PostgresCluster,
} from '../../support/servers/postgres-cluster.ts';
import {
  copyClusterBinaries,
  clusterPlaces,
  clusterPorts,
  type ClusterPorts,
  composeCommand,
  composeService,
} from './cluster-places.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
/** Characters that mean something to a shell, to YAML, to an address and to SQL. */
const AWKWARD = ` p@ss:w/o?#[]%41&=+;'"\\$(id)\`{{é `;
/** `LOTE_USER_ID=1000`, in .env. */
const ASSIGNMENT = /^(\w+)=(.*)$/gmu;
/** A process of the cluster that does not come up within this time never will. */
const START_PATIENCE_MS = 120_000;

/** The distributed form, run from docker-compose.yml as processes of this machine. */
export type Cluster = Awaited<ReturnType<typeof createCluster>>;

export type Role = 'postgres' | 'temporal' | 'lote';

/** What a process says when it works. */
const READY: Readonly<Record<string, string>> = {
  worker: 'Worker on task queue',
  receiver: 'Receiver http',
  console: 'Console http',
  sandbox: 'Sandbox http',
  'receiver-tls': 'serving initial configuration',
};

/** PostgreSQL and the folder that deploy/set-up.sh prepares; nothing else runs yet. */
export async function prepareCluster(notify: (line: string) => void): Promise<Cluster> {
  const directory = await mkdtemp(join(tmpdir(), 'lote-cluster-'));
  const programs = join(directory, 'bin');
  await copyClusterBinaries(programs, notify);
  const system = {
    PATH: [programs, postgresBinaries() ?? '', process.env['PATH'] ?? ''].join(delimiter),
    HOME: process.env['HOME'] ?? '',
  };
  await succeed(startCommand(['/bin/sh', join(ROOT, 'deploy/set-up.sh'), directory], { env: system }));
  for (const volume of ['lote', 'sandbox', 'certificates'])
    await mkdir(join(directory, 'data', volume), { recursive: true });
  // A container sees single files of it, whatever the folder's mode.
  await chmod(join(directory, 'secrets'), 0o711);
  await chmod(directory, 0o755);
  const passwords = await writePasswords(join(directory, 'secrets'));
  const postgres = await startPostgresCluster({
    durable: true,
    superuser: { name: 'postgres', password: passwords.postgres },
    settings: deployedPostgresSettings(),
  });
  if (postgres === null) throw new Error('The cluster needs PostgreSQL: initdb, postgres and psql were not found.');
  const ports = await clusterPorts(new URL(postgres.url).port);
  return createCluster({ directory, postgres, system, passwords, ports, operator: await operatorOf(directory) });
}

interface ClusterParts {
  readonly directory: string;
  readonly postgres: PostgresCluster;
  readonly system: Readonly<Record<string, string>>;
  readonly passwords: Readonly<Record<Role, string>>;
  readonly ports: ClusterPorts;
  readonly operator: Readonly<Record<string, string>>;
}

/** A process of the cluster takes connections on this port of this machine. */
export function listensOn(port: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(Number(port), '127.0.0.1');
    socket.once('error', () => resolve(false));
    socket.once('connect', () => resolve(socket.destroy() === socket));
  });
}

async function createCluster(parts: ClusterParts) {
  const { directory, postgres, system, passwords, ports, operator } = parts;
  const places = clusterPlaces(directory, ports, operator);
  const started: RunningCommand[] = [];

  function run(
    service: string,
    words: readonly string[] | null,
    env: Readonly<Record<string, string>>,
  ): RunningCommand {
    const compose = composeCommand(service, places);
    const { build, entrypoint, user } = composeService(service);
    const image = build !== undefined && entrypoint === undefined ? [process.execPath, COMMAND] : [];
    const account = user === undefined || user === '0:0' ? null : unprivileged(operator);
    const command = startCommand([...image, ...(words ?? compose.words)], {
      // An account that the image does not know has this home.
      env: { ...system, ...(account === null ? {} : { HOME: '/' }), ...compose.env, ...env },
      ...(account === null ? {} : { account }),
    });
    started.push(command);
    return command;
  }

  return {
    ...{ directory, ports, postgres },
    apiKey: (await readFile(join(directory, 'secrets/invoicing-api-key'), 'utf8')).trim(),
    /** Runs a job of the compose file to its end. */
    job: (service: string) => succeed(run(service, null, {})),
    /** Starts a process of a service and waits until it works; `env` is added to its variables. */
    async start(service: string, env: Readonly<Record<string, string>> = {}) {
      const command = run(service, null, env);
      const ready = READY[service];
      if (ready !== undefined) await withPatience(service, command, command.said(ready));
      return command;
    },
    /** `docker compose run --rm lote …` */
    lote: (...words: readonly string[]) => run('lote', words, {}),
    /** A connection as a role of deploy/postgresql/roles.sh. */
    async connect(role: Role, database: string) {
      const client = new pg.Client({
        ...{ host: '127.0.0.1', port: Number(ports.postgres), user: role, password: passwords[role], database },
      });
      await client.connect();
      return client;
    },
    async stop() {
      for (const command of started) command.killGroup();
      await Promise.all(started.map(({ end }) => end));
      await postgres.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function withPatience(service: string, command: RunningCommand, ready: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`${service} did not come up in time; it said: ${command.output()}`)),
      START_PATIENCE_MS,
    );
  });
  await Promise.race([ready, late]).finally(() => clearTimeout(timer));
}

/** @throws Error with all that it said, when it does not end well. */
async function succeed(command: RunningCommand): Promise<CommandEnd> {
  const end = await command.end;
  if (end.code !== 0) throw new Error(`A job ended with ${end.code ?? end.signal}: ${end.stdout}${end.stderr}`);
  return end;
}

/** Another one for each role. Temporal itself writes a space as `+`. */
async function writePasswords(folder: string): Promise<Readonly<Record<Role, string>>> {
  const passwords = { postgres: `1${AWKWARD}1`, temporal: `2${AWKWARD.replaceAll(' ', '_')}2`, lote: `3${AWKWARD}3` };
  await writeFile(join(folder, 'postgres-password'), `${passwords.postgres}\n`);
  await writeFile(join(folder, 'temporal-database-password'), `${passwords.temporal}\n`);
  await writeFile(join(folder, 'lote-database-password'), `${passwords.lote}\n`);
  return passwords;
}

/** Of .env after `cat deploy/sandbox.env >>.env`. */
async function operatorOf(directory: string): Promise<Record<string, string>> {
  const texts = await Promise.all(
    [join(directory, '.env'), join(ROOT, 'deploy/sandbox.env')].map((file) => readFile(file, 'utf8')),
  );
  return Object.fromEntries(
    [...texts.join('\n').matchAll(ASSIGNMENT)].map(([, name = '', value = '']) => [name, value]),
  );
}

/** The account of .env where this test may choose one; null: that of the test. */
function unprivileged(operator: Readonly<Record<string, string>>): { uid: number; gid: number } | null {
  if (process.getuid?.() !== 0) return null;
  return { uid: Number(operator['LOTE_USER_ID']), gid: Number(operator['LOTE_GROUP_ID']) };
}
