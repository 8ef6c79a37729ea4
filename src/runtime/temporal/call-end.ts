import type { ConnectionOptions } from '@temporalio/client';

/** gRPC's, as the SDK's connection takes it. */
export type Interceptor = NonNullable<ConnectionOptions['interceptors']>[number];
/** One try of a call. */
export type Call = ReturnType<Parameters<Interceptor>[1]>;

/** The call, whose end is heard before its caller hears it. */
export function onEnd(call: Call, hear: () => void): ReturnType<Interceptor> {
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
