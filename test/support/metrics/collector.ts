import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An OpenTelemetry collector that keeps what it gets. */
export interface Collector {
  readonly endpoint: string;
  /** Path and body of each request. */
  readonly got: readonly string[];
  close(): void;
}

export async function startCollector(): Promise<Collector> {
  const got: string[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      got.push(`${request.url} ${Buffer.concat(chunks).toString('utf8')}`);
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    got,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
