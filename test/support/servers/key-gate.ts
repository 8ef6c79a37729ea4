import {
  connect,
  createSecureServer,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo } from 'node:net';

/** gRPC's status PERMISSION_DENIED, RESOURCE_EXHAUSTED or UNAUTHENTICATED; 400: HTTP's, as a proxy says it. */
export type Refusal = 7 | 8 | 16 | 400;

const PERMISSION_DENIED = 7;

/** What Temporal's default authorizer tells everybody. */
const FOR_EVERYBODY = '/temporal.api.workflowservice.v1.WorkflowService/GetSystemInfo';

/** TLS in front of a Temporal server on loopback, for calls that show an API key. */
export interface KeyGate {
  /** `localhost:port`. */
  readonly address: string;
  /** From now on only this key is let through. */
  trust(key: string): void;
  close(): Promise<void>;
}

/** What the gate lets through. */
interface KeyGateOptions {
  readonly trusted: string;
  /** What a call with another key gets. */
  readonly status: Refusal;
  /** Name of a call to which no key has a right (PERMISSION_DENIED). */
  readonly denied?: string | null;
}

/** Starts one. `target`: `host:port` of a server without TLS. */
export async function keyGate(
  target: string,
  own: { readonly key: string; readonly cert: string },
  { trusted, status, denied = null }: KeyGateOptions,
): Promise<KeyGate> {
  let key = trusted;
  const behind = connect(`http://${target}`);
  behind.on('error', () => undefined);
  const server = createSecureServer(own);
  const sessions = new Set<ServerHttp2Session>();
  server.on('session', (session) => {
    sessions.add(session);
    session.on('error', () => undefined).on('close', () => sessions.delete(session));
  });
  server.on('stream', (stream: ServerHttp2Stream, headers) => {
    stream.on('error', () => undefined);
    const isKnown = headers[':path'] === FOR_EVERYBODY || headers.authorization === `Bearer ${key}`;
    const isDenied = denied !== null && headers[':path']?.endsWith(`/${denied}`) === true;
    if (!isKnown || isDenied) {
      if (!isKnown && status === 400) return stream.respond({ ':status': status }, { endStream: true });
      const code = String(isKnown ? PERMISSION_DENIED : status);
      const refused = { 'content-type': 'application/grpc', 'grpc-status': code, 'grpc-message': 'no' };
      stream.respond({ ':status': 200, ...refused }, { endStream: true });
      return;
    }
    const onward = behind.request({ ...headers, ':authority': target, ':scheme': 'http' });
    onward.on('error', () => undefined);
    onward.on('response', (answer) => stream.respond(answer, { waitForTrailers: true }));
    let trailers: IncomingHttpHeaders = {};
    onward.on('trailers', (last: IncomingHttpHeaders) => void (trailers = last));
    stream.on('wantTrailers', () => stream.sendTrailers(trailers));
    stream.pipe(onward);
    onward.pipe(stream);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    address: `localhost:${(server.address() as AddressInfo).port}`,
    trust: (other) => void (key = other),
    async close() {
      behind.destroy();
      for (const session of sessions) session.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
