import { describe, expect, it, onTestFinished } from 'vitest';
import { readConfig } from '../../../../src/app/config/config.ts';
import { createLogger } from '../../../../src/app/process/logger.ts';
import { NO_TELEMETRY } from '../../../../src/health/telemetry.ts';
import { startedParts } from '../../../../src/app/start/stop-in-reverse.ts';
import type { Ledger } from '../../../../src/ledger/ledger.ts';
import { openProcessTelemetry } from '../../../../src/app/start/open-application.ts';

/** A ledger without batches, whose breaker is open. */
const LEDGER = {
  countBatches: async () => ({}),
  measuredBatches: async () => [],
  measureDoubt: async () => 0,
  breaker: async (baseUrl: string) => (baseUrl === 'https://service.example' ? {} : null),
} as unknown as Ledger;

const log = createLogger({ level: 'silent', secrets: [] });

describe('the telemetry of a process', () => {
  it('is none, and observes no part, unless it is asked for', async () => {
    const config = readConfig({});
    const parts = startedParts(log);

    const telemetry = await openProcessTelemetry({ config, parts, log }, 'worker');

    expect(telemetry).toBe(NO_TELEMETRY);
    expect(telemetry.onStatement).toBeUndefined();
    expect(telemetry.onRequest).toBeUndefined();
  });

  it('tells of the breaker in a console without a key', async () => {
    const parts = startedParts(log);
    onTestFinished(() => parts.stop());
    const env = { METRICS_PORT: '0', INVOICING_BASE_URL: 'https://service.example' };
    const config = readConfig(env, process.cwd(), 'nothing');

    const telemetry = await openProcessTelemetry({ config, parts, log }, 'console');
    telemetry.readsFrom(LEDGER);

    expect(await (await fetch(telemetry.url ?? '')).text()).toContain('lote_circuit_breaker_open 1');
  });
});
