import {
  Client,
  Connection,
  defaultGrpcRetryOptions,
  makeGrpcRetryInterceptor,
  type ConnectionOptions,
} from '@temporalio/client';
import { toClientOptions } from '@temporalio/envconfig';
import { LoteError } from '../../domain/errors.ts';
import type { TemporalConfig } from '../config/config.ts';
import { errorCode } from '../../platform/error-code.ts';
import { waitingFor } from '../../platform/waiting-for.ts';
import { GRPC_STATUS, temporalRefusal } from './calls.ts';

/** A reachable server answers in milliseconds, and a start that waits longer than this looks dead. */
const PATIENCE_MS = 10_000;

/**
 * Longest pause between two tries to connect. gRPC's own limit is two minutes, so after such an outage every client
 * would wait that long again although the server is back.
 */
const CHANNEL = { 'grpc.max_reconnect_backoff_ms': 5_000 };

type SdkOptions = ReturnType<typeof toClientOptions>['connectionOptions'];

/** What the connections of client and worker need to reach a server. */
export type TemporalPlace = Pick<SdkOptions, 'apiKey' | 'tls' | 'metadata'> & { readonly address: string };

/**
 * Returns address, TLS, headers and API key in the SDK's shape. Lote's embedded server is on loopback and needs neither
 * key nor certificate; a configured server may need both.
 * @throws LoteError `configuration-invalid` when a certificate cannot be read.
 */
export function placeOf(address: string, temporal: Pick<TemporalConfig, 'address' | 'profile'>): TemporalPlace {
  if (address !== temporal.address) return { address };
  try {
    return { ...toClientOptions(temporal.profile).connectionOptions, address };
  } catch (cause) {
    throw new LoteError(
      'configuration-invalid',
      `Connecting to Temporal: the files of TEMPORAL_TLS_… must be readable PEM files; one could not be read (${errorCode(cause)}).`,
      { cause },
    );
  }
}

/**
 * Returns a connection that has answered once.
 * @throws LoteError `temporal-unavailable` without an answer in time, with the address but no secret.
 */
export async function connectTemporal(place: TemporalPlace, patienceMs: number = PATIENCE_MS): Promise<Connection> {
  const connection = lazyTemporal(place, patienceMs);
  try {
    await connection.ensureConnected();
    return connection;
  } catch (cause) {
    // Otherwise the connection would try for half an hour.
    await connection.close();
    throw notConnected(place, `within ${patienceMs / 1000} s`, cause);
  }
}

/** `when` completes "a server must answer there", such as "within 10 s". The error names the address, and no secret. */
export function notConnected({ address }: TemporalPlace, when: string, cause: unknown): LoteError {
  return new LoteError(
    'temporal-unavailable',
    `Connecting to Temporal at ${address}: a server must answer there ${when}, but none did. ` +
      'Check TEMPORAL_ADDRESS (and TEMPORAL_API_KEY or TEMPORAL_TLS_… where the server wants them), or leave it out for an embedded server.',
    { cause },
  );
}

/** Returns a connection that opens at its first call, and again after a loss. */
export function lazyTemporal(place: TemporalPlace, patienceMs: number = PATIENCE_MS): Connection {
  const calls = closingCalls();
  const interceptors = [makeGrpcRetryInterceptor(defaultGrpcRetryOptions()), calls.interceptor];
  const options = { ...place, connectTimeout: patienceMs, interceptors, channelArgs: CHANNEL };
  const connection = Connection.lazy(options);
  const close = connection.close.bind(connection);
  // Calls end before the connection closes, because a call that comes after that ends the process.
  connection.close = async () => {
    calls.end();
    await close();
  };
  return connection;
}

/** gRPC's interceptor type, as the SDK's connection takes it. */
type Interceptor = NonNullable<ConnectionOptions['interceptors']>[number];
/** One attempt of a call. */
type Call = ReturnType<Parameters<Interceptor>[1]>;
type Listener = NonNullable<Parameters<Call['start']>[1]>;

const WHY = 'the connection is closed';

/**
 * Ends calls with their connection; `interceptor` must stand after the retry interceptor to see each attempt. Otherwise
 * a long poll keeps a process alive for a minute after its end. A retry that waits for its turn would throw from a
 * timer, where no caller can catch it, because the channel is gone (seen with client 1.24.0).
 */
function closingCalls(): { readonly interceptor: Interceptor; end(): void } {
  const open = new Set<Call>();
  let ended = false;
  return {
    interceptor(options, next) {
      const call: Call = ended ? cancelledCall() : next(options);
      open.add(call);
      return onEnd(call, () => open.delete(call));
    },
    end() {
      ended = true;
      for (const call of open) call.cancelWithStatus(GRPC_STATUS.cancelled, WHY);
      open.clear();
    },
  };
}

/** Returns a call that is cancelled before it starts. */
function cancelledCall(): Call {
  let notified: Partial<Listener> | undefined;
  const nothing = (): void => undefined;
  return {
    start(metadata, listener) {
      notified = listener;
      queueMicrotask(() => {
        notified?.onReceiveMessage?.(null);
        notified?.onReceiveStatus?.({ code: GRPC_STATUS.cancelled, details: WHY, metadata });
      });
    },
    cancelWithStatus: nothing,
    getPeer: () => '',
    sendMessage: nothing,
    sendMessageWithContext: nothing,
    startRead: nothing,
    halfClose: nothing,
    getAuthContext: () => null,
  };
}

/** Returns the call, and runs `hear` at its end, before its caller learns of it. */
function onEnd(call: Call, hear: () => void): ReturnType<Interceptor> {
  const start = call.start.bind(call);
  call.start = (metadata, listener) =>
    start(metadata, {
      onReceiveMetadata: (received) => listener?.onReceiveMetadata?.(received),
      onReceiveMessage: (message) => listener?.onReceiveMessage?.(message),
      onReceiveStatus(status) {
        hear();
        listener?.onReceiveStatus?.(status);
      },
    });
  // The chain uses only this interface of a call; the class adds nothing that it uses.
  return call as ReturnType<Interceptor>;
}

/** Lote queries a task queue, because all work takes this path, on which a server learns of a new namespace some seconds later. */
const ANY_QUEUE = 'lote';
/** TASK_QUEUE_TYPE_WORKFLOW */
const WORKFLOWS = 1;

/**
 * Returns a client whose server has answered once and has the namespace.
 * @throws LoteError `temporal-unavailable`
 */
export function connectClient(place: TemporalPlace, namespace: string): Promise<Client> {
  return waitingFor(`Temporal at ${place.address}`, async () => {
    const client = new Client({ connection: await connectTemporal(place), namespace });
    // A client without permission to describe the namespace may still use it.
    if ((await findNamespace(client).catch(() => 'denied')) !== 'missing') return client;
    await client.connection.close();
    throw new LoteError(
      'temporal-unavailable',
      `Connecting to Temporal at ${place.address}: the server must have the namespace ${namespace}, and it knows none of that name; a new one it knows after some seconds. ` +
        `Correct TEMPORAL_NAMESPACE, or make it: temporal operator namespace create --namespace ${namespace}`,
    );
  });
}

/**
 * Asks the server for the client's namespace; `denied` means that the server does not show it to this client.
 * @throws the connection's error
 */
export async function findNamespace(client: Client): Promise<'there' | 'missing' | 'denied'> {
  try {
    const { namespace } = client.options;
    const taskQueue = { name: ANY_QUEUE };
    await client.workflowService.describeTaskQueue({ namespace, taskQueue, taskQueueType: WORKFLOWS });
    return 'there';
  } catch (error) {
    const code = temporalRefusal(error)?.code;
    if (code === GRPC_STATUS.permissionDenied) return 'denied';
    if (code === GRPC_STATUS.notFound) return 'missing';
    throw error;
  }
}

/** Returns a client that connects at its first use, for a process that must start while the server is down. */
export function lazyClient(place: TemporalPlace, namespace: string): Client {
  return new Client({ connection: lazyTemporal(place), namespace });
}
