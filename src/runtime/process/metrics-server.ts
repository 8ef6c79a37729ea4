import { startProbeServer } from './probe-server.ts';

const PATH = '/metrics';

export interface MetricsServerOptions {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Prometheus' text format. */
  readonly text: () => Promise<string>;
}

/**
 * Serves metrics, and nothing else.
 * @throws LoteError `port-taken`; `configuration-invalid` when the address cannot be listened on for another reason
 */
export async function startMetricsServer(
  options: MetricsServerOptions,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const { host, port, text } = options;
  const server = await startProbeServer({
    ...{ host, port, what: 'Serving metrics', variables: 'METRICS' },
    async answer(path, response) {
      if (path !== PATH) return false;
      const body = await text();
      response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }).end(body);
      return true;
    },
  });
  return { url: `${server.origin}${PATH}`, close: () => server.close() };
}
