import { describe, expect, it } from 'vitest';
import type { Ledger } from '../../../../src/domain/ports/ledger/ledger.ts';
import { readConfig } from '../../../../src/runtime/config/config.ts';
import { createLogger } from '../../../../src/runtime/process/logger.ts';
import { NO_TELEMETRY } from '../../../../src/telemetry/telemetry.ts';
import { openProcessTelemetry } from '../../../../src/wiring/start/process-telemetry.ts';
import { startedParts } from '../../../../src/wiring/start/stop-in-reverse.ts';

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

    const telemetry = await openProcessTelemetry({ config, role: 'worker', parts, log });

    expect(telemetry).toBe(NO_TELEMETRY);
    expect(telemetry.onStatement).toBeUndefined();
    expect(telemetry.onRequest).toBeUndefined();
    const part = {};
    expect(telemetry.ledger(part as never)).toBe(part);
    expect(telemetry.service(part as never)).toBe(part);
  });

  it('listens on loopback where METRICS_PORT says, and says which port is taken', async () => {
    const parts = startedParts(log);
    const first = await openProcessTelemetry({
      config: readConfig({ METRICS_PORT: '0' }),
      role: 'console',
      parts,
      log,
    });
    try {
      const port = new URL(first.url ?? '').port;
      const taken = readConfig({ METRICS_PORT: port });

      expect(first.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/metrics$/);
      expect(await (await fetch(first.url ?? '')).text()).toContain(
        'lote_build_info{version="0.1.0",role="console"} 1',
      );
      expect((await fetch(new URL('/', first.url ?? ''))).status).toBe(404);
      expect((await fetch(first.url ?? '', { method: 'POST' })).status).toBe(405);
      await expect(openProcessTelemetry({ config: taken, role: 'console', parts, log })).rejects.toMatchObject({
        code: 'port-taken',
        message: expect.stringContaining('METRICS_PORT') as string,
      });
    } finally {
      await parts.stop();
    }
  });

  it('tells of the breaker in a console without a key', async () => {
    const parts = startedParts(log);
    const config = readConfig(
      { METRICS_PORT: '0', INVOICING_BASE_URL: 'https://service.example' },
      process.cwd(),
      'nothing',
    );
    try {
      const telemetry = await openProcessTelemetry({ config, role: 'console', parts, log });
      telemetry.ledger(LEDGER);

      expect(await (await fetch(telemetry.url ?? '')).text()).toContain('lote_circuit_breaker_open 1');
    } finally {
      await parts.stop();
    }
  });

  it('calls a port taken only when it is', async () => {
    // An address for documentation: no machine has it.
    const config = readConfig({ METRICS_PORT: '9464', METRICS_HOST: '192.0.2.1' });

    await expect(
      openProcessTelemetry({ config, role: 'console', parts: startedParts(log), log }),
    ).rejects.toMatchObject({
      code: 'configuration-invalid',
      message: expect.stringMatching(/192\.0\.2\.1:9464.*EADDRNOTAVAIL/) as string,
    });
  });
});
