import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ownPort } from '../../support/servers/own-port.ts';
import { readFileSync } from 'node:fs';
import { ComposeFile, filledIn, readComposeFile, type ComposeService } from '../../unit/deployment/compose-file.ts';
import { copyFile, mkdir } from 'node:fs/promises';
import { acquireTemporalBinary } from '../../../src/app/temporal/temporal-binary.ts';
import { goProgram, type GoProgram } from '../../support/programs/go-program.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const TEMPORAL_PORTS = [
  ...['FRONTEND_GRPC_PORT', 'FRONTEND_HTTP_PORT', 'MATCHING_GRPC_PORT', 'HISTORY_GRPC_PORT', 'WORKER_GRPC_PORT'],
  ...['FRONTEND_MEMBERSHIP_PORT', 'MATCHING_MEMBERSHIP_PORT', 'HISTORY_MEMBERSHIP_PORT', 'WORKER_MEMBERSHIP_PORT'],
];

/** Ports of one cluster; containers have the same ones each, processes of one machine have not. */
export interface ClusterPorts {
  readonly postgres: string;
  /** By the variable that sets it. */
  readonly temporal: Readonly<Record<string, string>>;
  readonly receivers: readonly string[];
  readonly tls: string;
  readonly http: string;
  readonly console: string;
  readonly sandbox: string;
}

/** Free ports for everything but PostgreSQL. */
export async function clusterPorts(postgres: string): Promise<ClusterPorts> {
  const port = async (): Promise<string> => String(await ownPort());
  const temporal: [string, string][] = [];
  for (const name of TEMPORAL_PORTS) temporal.push([name, await port()]);
  return {
    ...{ postgres, temporal: Object.fromEntries(temporal), receivers: [await port(), await port()] },
    ...{ tls: await port(), http: await port(), console: await port(), sandbox: await port() },
  };
}

/** What names and folders of containers are here. */
export function clusterPlaces(
  directory: string,
  { postgres, temporal, ...ports }: ClusterPorts,
  operator: Readonly<Record<string, string>>,
): ComposePlaces {
  return {
    operator: { ...operator, RECEIVER_SITE: `https://localhost:${ports.tls}`, LOTE_LOG_LEVEL: 'warn' },
    words: {
      '/etc/temporal/entrypoint.sh': ['temporal-server', 'start'],
      ...{ postgresql: '127.0.0.1', '0.0.0.0': '127.0.0.1', '5432': postgres },
      'receiver:8090': ports.receivers.map((port) => `127.0.0.1:${port}`),
      ...{ '8091': ports.console, '8092': ports.sandbox, '/data': join(directory, 'data/certificates') },
    },
    parts: [
      ['postgresql:5432', `127.0.0.1:${postgres}`],
      ['temporal:7233', `127.0.0.1:${temporal['FRONTEND_GRPC_PORT']}`],
      ['sandbox:8092', `127.0.0.1:${ports.sandbox}`],
      ['receiver-tls:8443', `localhost:${ports.tls}`],
      ['/run/secrets', join(directory, 'secrets')],
      ['/deploy/', join(ROOT, 'deploy/')],
      ['/data/input', join(directory, 'input')],
      ['/data/reports', join(directory, 'reports')],
      ['/data/', join(directory, 'data/')],
    ],
  };
}

const compose = ComposeFile.parse(readComposeFile(readFileSync(`${ROOT}docker-compose.yml`, 'utf8')));
/** `ENV NAME=value NAME=value` of the image that the processes of Lote run in. */
const IMAGE_ENV = /^ENV (?<pairs>LOTE_.*)$/mu;

/** Where this machine has what the containers have. */
export interface ComposePlaces {
  /** Variables of the operator: of .env, or of the shell. */
  readonly operator: Readonly<Record<string, string>>;
  /** Whole words: host names, ports, programs. Several words stand for one where an image has a script of its own. */
  readonly words: Readonly<Record<string, string | readonly string[]>>;
  /** Parts of words, the longest first: addresses with their port, folders of containers. */
  readonly parts: readonly (readonly [string, string])[];
}

/** A process that is started as the compose file says. */
export interface ComposeCommand {
  readonly words: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** A service of docker-compose.yml. @throws Error when there is none of that name. */
export function composeService(name: string): ComposeService {
  const service = compose.services[name];
  if (service === undefined) throw new Error(`docker-compose.yml has no service ${name}`);
  return service;
}

/** What a service of docker-compose.yml runs, and its variables, with the places of containers replaced by those of this machine. */
export function composeCommand(name: string, places: ComposePlaces): ComposeCommand {
  const { entrypoint = [], command = [], environment = {}, build } = composeService(name);
  const image = build === undefined ? {} : imageEnvironment();
  const env = Object.entries({ ...image, ...environment }).map(([variable, value]): [string, string] => [
    variable,
    [translated(filledIn(value, places.operator), places)].flat().join(' '),
  ]);
  return {
    words: [...entrypoint, ...command].flatMap((word) => translated(word, places)),
    env: Object.fromEntries(env.filter(([, value]) => value !== '')),
  };
}

function translated(text: string, { words, parts }: ComposePlaces): string | readonly string[] {
  const word = words[text];
  if (word !== undefined) return word;
  return parts.reduce((result, [theirs, ours]) => result.replaceAll(theirs, ours), text);
}

function imageEnvironment(): Record<string, string> {
  const { pairs = '' } = IMAGE_ENV.exec(readFileSync(`${ROOT}Dockerfile`, 'utf8'))?.groups ?? {};
  return Object.fromEntries(pairs.split(' ').map((pair) => pair.split('=') as [string, string]));
}

/** The programs of the images that docker-compose.yml names, but for PostgreSQL and Node, in their versions; a test compares them. */
export const GO_PROGRAMS: readonly GoProgram[] = [
  { name: 'temporal-server', package: 'go.temporal.io/server/cmd/server', version: 'v1.31.2' },
  { name: 'temporal-sql-tool', package: 'go.temporal.io/server/cmd/tools/sql', version: 'v1.31.2' },
  { name: 'caddy', package: 'github.com/caddyserver/caddy/v2/cmd/caddy', version: 'v2.10.2' },
];

/**
 * Puts the programs into a folder that any account of this machine may read, from the user's cache; Go builds what is missing there (minutes,
 * once).
 * @throws Error when there is no Go, or a build fails.
 */
export async function copyClusterBinaries(folder: string, notify: (line: string) => void): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const program of GO_PROGRAMS) await copyFile(await goProgram(program, notify), join(folder, program.name));
  await copyFile(await acquireTemporalBinary(notify, process.env), join(folder, 'temporal'));
}
