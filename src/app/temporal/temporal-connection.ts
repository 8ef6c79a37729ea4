import { Connection, defaultGrpcRetryOptions, makeGrpcRetryInterceptor } from '@temporalio/client';
import { toClientOptions } from '@temporalio/envconfig';
import { LoteError } from '../../domain/errors.ts';
import type { TemporalProfile } from '../config/temporal-profile.ts';
import { errorCode } from '../../platform/error-code.ts';
import { closingCalls } from './temporal-calls.ts';

/** A server that is there answers in milliseconds; a start that waits longer than this looks dead. */
const PATIENCE_MS = 10_000;

/**
 * Between two tries to connect. gRPC's own limit is two minutes: after an outage of that length everybody would wait as long again,
 * while the server has been back all the time.
 */
const CHANNEL = { 'grpc.max_reconnect_backoff_ms': 5_000 };

type SdkOptions = ReturnType<typeof toClientOptions>['connectionOptions'];

/** What both the client's and the worker's connection need to reach a server. */
export type TemporalPlace = Pick<SdkOptions, 'apiKey' | 'tls' | 'metadata'> & { readonly address: string };

/**
 * Address, TLS, headers and API key in the SDK's shape.
 * @throws LoteError `configuration-invalid` when a certificate cannot be read.
 */
export function temporalPlace(address: string, profile: TemporalProfile): TemporalPlace {
  try {
    return { ...toClientOptions(profile).connectionOptions, address };
  } catch (cause) {
    throw new LoteError(
      'configuration-invalid',
      `Connecting to Temporal: the files of TEMPORAL_TLS_… must be readable PEM files; one could not be read (${errorCode(cause)}).`,
      { cause },
    );
  }
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
  const calls = closingCalls();
  const interceptors = [makeGrpcRetryInterceptor(defaultGrpcRetryOptions()), calls.interceptor];
  const options = { ...place, connectTimeout: patienceMs, interceptors, channelArgs: CHANNEL };
  const connection = Connection.lazy(options);
  const close = connection.close.bind(connection);
  // Calls are ended before the connection is closed: one that comes after that ends the process.
  connection.close = async () => {
    calls.end();
    await close();
  };
  return connection;
}
