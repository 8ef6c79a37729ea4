import { request } from 'undici';
import type { Meter } from './meter.ts';

/** It answers from memory, on loopback. */
const PATIENCE_MS = 2_000;
/** Some hundred series; more than this is not what the SDK serves. */
const MOST_BYTES = 4 * 1024 * 1024;

/** The metrics of the Temporal SDK, which its native part serves on a loopback address of its own. */
export interface SdkMetrics {
  /** Told once a worker runs. */
  servedAt(address: string): void;
  /** Prometheus' text format; empty while there are none. */
  text(): Promise<string>;
}

/** Fetches the SDK's metrics at each scrape, so that a process has one address for all. */
export function createSdkMetrics(meter: Meter): SdkMetrics {
  let address: string | null = null;
  let isUp = false;
  meter.onScrape(['lote_temporal_sdk_metrics_up'], (observe) => {
    if (address !== null) observe('lote_temporal_sdk_metrics_up', isUp ? 1 : 0);
  });
  return {
    servedAt(given) {
      address = given;
    },
    async text() {
      if (address === null) return '';
      const found = await fetchText(address).catch(() => null);
      isUp = found !== null;
      return found ?? '';
    },
  };
}

async function fetchText(address: string): Promise<string | null> {
  const { statusCode, body } = await request(`http://${address}/metrics`, { signal: AbortSignal.timeout(PATIENCE_MS) });
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.byteLength;
    if (bytes > MOST_BYTES) return null;
    chunks.push(chunk);
  }
  return statusCode === 200 ? Buffer.concat(chunks).toString('utf8') : null;
}
