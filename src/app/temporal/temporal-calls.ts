import { GRPC_STATUS } from './temporal-failure.ts';
import type { ConnectionOptions } from '@temporalio/client';

type Listener = NonNullable<Parameters<Call['start']>[1]>;

const WHY = 'the connection is closed';

export interface ClosingCalls {
  /** Must stand after the one that repeats calls: it sees each try. */
  readonly interceptor: Interceptor;
  /** Ends what is in flight, and whatever would be tried from now on. */
  end(): void;
}

/**
 * Calls that end with their connection. Without it a long poll keeps a process alive for a minute after its end, and a repeat that was waiting
 * for its turn throws from a timer, where no caller can catch it, because the channel is gone (seen with client 1.24.0).
 */
export function closingCalls(): ClosingCalls {
  const open = new Set<Call>();
  let ended = false;

  function interceptor(...[options, next]: Parameters<Interceptor>): ReturnType<Interceptor> {
    const call: Call = ended ? cancelledCall() : next(options);
    open.add(call);
    return onEnd(call, () => open.delete(call));
  }

  return {
    interceptor,
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

/** gRPC's, as the SDK's connection takes it. */
export type Interceptor = NonNullable<ConnectionOptions['interceptors']>[number];
/** One try of a call. */
type Call = ReturnType<Parameters<Interceptor>[1]>;

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
