import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createServer } from 'node:https';
import { onTestFinished } from 'vitest';
import { listen } from './own-port.ts';

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
