import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { selfSigned } from '../files/self-signed.ts';

/** A real HTTPS server on loopback, whose certificate is signed by itself; ends with the test. */
export async function httpsServer(kind: 'valid' | 'expired'): Promise<string> {
  const server = createServer(selfSigned(kind), (_, response) => response.end());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
