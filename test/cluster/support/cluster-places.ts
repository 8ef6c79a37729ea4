import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ownPort } from '../../support/servers/own-port.ts';
import type { ComposePlaces } from './compose-places.ts';

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
