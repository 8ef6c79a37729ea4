import { readFile } from 'node:fs/promises';
import { Connection, type ConnectionOptions } from '@temporalio/client';
import { LoteError } from '../../domain/errors.ts';
import type { TemporalConfig, TemporalTlsConfig } from '../config/config.ts';
import type { Interceptor } from './call-end.ts';
import { closingCalls } from './closing-calls.ts';
import { repeatedCalls } from './repeated-calls.ts';

/** A server that is there answers in milliseconds; a start that waits longer than this looks dead. */
const PATIENCE_MS = 10_000;

/**
 * Between two tries to connect. gRPC's own limit is two minutes: after an outage of that length everybody would wait as long again,
 * while the server has been back all the time.
 */
const CHANNEL = { 'grpc.max_reconnect_backoff_ms': 5_000 };

export type TemporalAccess = Pick<TemporalConfig, 'apiKey' | 'tls'>;

/** What both the client's and the worker's connection need to reach a server. */
export interface TemporalPlace {
  readonly address: string;
  readonly apiKey?: string;
  readonly tls?: TlsOptions;
}

type TlsOptions = Exclude<NonNullable<ConnectionOptions['tls']>, boolean>;

/**
 * Address, TLS and API key in the SDK's shape.
 * @throws LoteError `configuration-invalid` when a certificate cannot be read.
 */
export async function temporalPlace(address: string, { apiKey, tls }: TemporalAccess): Promise<TemporalPlace> {
  return {
    address,
    ...(apiKey === null ? {} : { apiKey }),
    ...(tls === null ? {} : { tls: await readTls(tls) }),
  };
}

/**
 * A connection that has answered once.
 * @throws LoteError `temporal-unavailable` when nothing answers in time; the address is named, no secret is.
 */
export async function connectTemporal(place: TemporalPlace, patienceMs: number = PATIENCE_MS): Promise<Connection> {
  const connection = lazyTemporal(place, patienceMs);
  try {
    await connection.ensureConnected();
    return connection;
  } catch (cause) {
    // It would go on trying for half an hour.
    await connection.close();
    throw notConnected(place, `within ${patienceMs / 1000} s`, cause);
  }
}

/** `when`: as in "a server must answer there within 10 s". Names the address, and no secret. */
export function notConnected({ address }: TemporalPlace, when: string, cause: unknown): LoteError {
  return new LoteError(
    'temporal-unavailable',
    `Connecting to Temporal at ${address}: a server must answer there ${when}, but none did. ` +
      'Check TEMPORAL_ADDRESS (and TEMPORAL_API_KEY or TEMPORAL_TLS_… where the server wants them), or leave it out for an embedded server.',
    { cause },
  );
}

/** A connection that is made with its first call, and again after a loss. */
export function lazyTemporal(place: TemporalPlace, patienceMs: number = PATIENCE_MS): Connection {
  return quietConnection({ ...place, connectTimeout: patienceMs }, [repeatedCalls()]);
}

/**
 * A lazy connection that tries each call once: the call ends with the result of that try, and not with a deadline that
 * came meanwhile.
 */
export function unrepeatedTemporal(place: TemporalPlace): Connection {
  return quietConnection(place, []);
}

/** Calls are ended before the connection is closed: one that comes after that ends the process. */
function quietConnection(options: ConnectionOptions, repeats: readonly Interceptor[]): Connection {
  const calls = closingCalls();
  const interceptors = [...repeats, calls.interceptor];
  return endingCalls(Connection.lazy({ ...options, interceptors, channelArgs: CHANNEL }), () => calls.end());
}

function endingCalls(connection: Connection, endCalls: () => void): Connection {
  const close = connection.close.bind(connection);
  connection.close = async () => {
    endCalls();
    await close();
  };
  return connection;
}

async function readTls(tls: TemporalTlsConfig): Promise<TlsOptions> {
  const { serverName, serverCaCertPath, clientCertPath, clientKeyPath } = tls;
  const serverRootCACertificate = await readPem('TEMPORAL_TLS_SERVER_CA_CERT_PATH', serverCaCertPath);
  const crt = await readPem('TEMPORAL_TLS_CLIENT_CERT_PATH', clientCertPath);
  const key = await readPem('TEMPORAL_TLS_CLIENT_KEY_PATH', clientKeyPath);
  return {
    ...(serverName === null ? {} : { serverNameOverride: serverName }),
    ...(serverRootCACertificate === null ? {} : { serverRootCACertificate }),
    ...(crt === null || key === null ? {} : { clientCertPair: { crt, key } }),
  };
}

async function readPem(variable: string, path: string | null): Promise<Buffer | null> {
  if (path === null) return null;
  try {
    return await readFile(path);
  } catch (cause) {
    throw new LoteError(
      'configuration-invalid',
      `Connecting to Temporal: ${variable} must name a readable PEM file; ${path} could not be read.`,
      { cause },
    );
  }
}
