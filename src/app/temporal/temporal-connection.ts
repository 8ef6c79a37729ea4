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
import { GRPC_STATUS } from './calls.ts';

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
 * Address, TLS, headers and API key in the SDK's shape. A server of our own is on loopback and wants neither key nor certificate; one that was given may
 * want both.
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

/** gRPC's, as the SDK's connection takes it. */
type Interceptor = NonNullable<ConnectionOptions['interceptors']>[number];
/** One try of a call. */
type Call = ReturnType<Parameters<Interceptor>[1]>;
type Listener = NonNullable<Parameters<Call['start']>[1]>;

const WHY = 'the connection is closed';

/**
 * Calls that end with their connection; `interceptor` must stand after the one that repeats calls, so that it sees each try. Without it a long poll keeps
 * a process alive for a minute after its end, and a repeat that was waiting for its turn throws from a timer, where no caller can catch it, because the
 * channel is gone (seen with client 1.24.0).
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

/** A call that has ended before it began. */
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

/** The call, whose end is heard before its caller hears it. */
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
  // The chain needs no more of a call than this interface; the class adds nothing that is used.
  return call as ReturnType<Interceptor>;
}

/** A question about a task queue goes the way of all work, on which a server knows a new namespace some seconds later. */
const ANY_QUEUE = 'lote';
/** TASK_QUEUE_TYPE_WORKFLOW */
const WORKFLOWS = 1;

/**
 * A client whose server has answered once, and has the namespace.
 * @throws LoteError `temporal-unavailable`
 */
export function connectClient(place: TemporalPlace, namespace: string): Promise<Client> {
  return waitingFor(`Temporal at ${place.address}`, () => connectAt(place, namespace));
}

async function connectAt(place: TemporalPlace, namespace: string): Promise<Client> {
  const client = new Client({ connection: await connectTemporal(place), namespace });
  // A client that may not see the namespace may use it all the same.
  if ((await findNamespace(client).catch(() => 'denied')) !== 'missing') return client;
  await client.connection.close();
  throw new LoteError(
    'temporal-unavailable',
    `Connecting to Temporal at ${place.address}: the server must have the namespace ${namespace}, and it knows none of that name; a new one it knows after some seconds. ` +
      `Correct TEMPORAL_NAMESPACE, or make it: temporal operator namespace create --namespace ${namespace}`,
  );
}

/**
 * What the server says of the namespace of the client; `denied`: it does not show it to this client.
 * @throws what the connection says
 */
export async function findNamespace(client: Client): Promise<'there' | 'missing' | 'denied'> {
  try {
    const { namespace } = client.options;
    const taskQueue = { name: ANY_QUEUE };
    await client.workflowService.describeTaskQueue({ namespace, taskQueue, taskQueueType: WORKFLOWS });
    return 'there';
  } catch (error) {
    const { code } = (error ?? {}) as { readonly code?: unknown };
    if (code === GRPC_STATUS.permissionDenied) return 'denied';
    if (code === GRPC_STATUS.notFound) return 'missing';
    throw error;
  }
}

/** A client that connects when it is first used, for a process that must be up while the server is not. */
export function lazyClient(place: TemporalPlace, namespace: string): Client {
  return new Client({ connection: lazyTemporal(place), namespace });
}
