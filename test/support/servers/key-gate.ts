import {
  connect,
  createSecureServer,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createServer } from 'node:https';
import { onTestFinished } from 'vitest';
import { listen } from './own-port.ts';

/** gRPC's status PERMISSION_DENIED, RESOURCE_EXHAUSTED or UNAUTHENTICATED, or HTTP's 400, which a proxy answers. */
export type Refusal = 7 | 8 | 16 | 400;

const PERMISSION_DENIED = 7;

/** The call that Temporal's default authorizer allows to every caller. */
const FOR_EVERYBODY = '/temporal.api.workflowservice.v1.WorkflowService/GetSystemInfo';

/** The calls that the gate accepts. */
interface KeyGateOptions {
  readonly trusted: string;
  /** The refusal of a call with another key. */
  readonly status: Refusal;
  /** Name of a call that no key may make (PERMISSION_DENIED). */
  readonly denied?: string | null;
}

/** Starts a TLS proxy that checks the API key of calls. `target` is the `host:port` of a Temporal server without TLS. */
export async function keyGate(
  target: string,
  own: { readonly key: string; readonly cert: string },
  { trusted, status, denied = null }: KeyGateOptions,
) {
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
  return {
    address: `localhost:${await listen(server)}`,
    /** From now on, accepts only this key. */
    trust: (other: string) => void (key = other),
    async close() {
      behind.destroy();
      for (const session of sessions) session.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** The dates of an expired certificate. */
const EXPIRED = ['-startdate', '20200101000000Z', '-enddate', '20200201000000Z'];
const VALID = ['-days', '30'];
const CONFIG = [
  '[ca]\ndefault_ca=own\n[own]\ndatabase=index\nnew_certs_dir=.\nrand_serial=yes\ndefault_md=sha256\npolicy=names',
  'x509_extensions=v3\n[names]\ncommonName=supplied\n[v3]\nsubjectAltName=DNS:localhost,IP:127.0.0.1\n',
].join('\n');
const REQUEST = ['-keyout', 'key', '-out', 'request'];

/** Makes a key and a self-signed certificate in PEM, for `localhost` and 127.0.0.1. */
export function selfSigned(kind: 'valid' | 'expired'): { readonly key: string; readonly cert: string } {
  const directory = mkdtempSync(join(tmpdir(), 'lote-tls-'));
  // OpenSSL finds a trusted certificate by its subject, so each certificate needs its own.
  const subject = ['-subj', `/CN=${basename(directory)}`];
  const openssl = (...parameters: readonly string[]): void =>
    void execFileSync('openssl', parameters, { cwd: directory, stdio: 'pipe' });
  writeFileSync(join(directory, 'index'), '');
  writeFileSync(join(directory, 'config'), CONFIG);
  openssl(
    ...['req', '-new', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'],
    ...REQUEST,
    ...subject,
  );
  const times = kind === 'expired' ? EXPIRED : VALID;
  openssl(
    ...['ca', '-batch', '-notext', '-selfsign', '-config', 'config', '-keyfile', 'key', '-in', 'request'],
    ...times,
    '-out',
    'cert',
  );
  const read = (name: string): string => readFileSync(join(directory, name), 'utf8');
  const pair = { key: read('key'), cert: read('cert') };
  rmSync(directory, { recursive: true });
  return pair;
}

/** Starts a real HTTPS server on loopback with a self-signed certificate. It ends with the test. */
export async function httpsServer(kind: 'valid' | 'expired'): Promise<string> {
  const server = createServer(selfSigned(kind), (_, response) => response.end());
  onTestFinished(() => void server.close());
  return `https://127.0.0.1:${await listen(server)}`;
}
