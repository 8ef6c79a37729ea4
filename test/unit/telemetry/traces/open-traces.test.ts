import type { Context } from '@temporalio/activity';
import { describe, expect, it } from 'vitest';
import type { InvoicingService } from '../../../../src/domain/ports/invoicing-service.ts';
import { openTraces } from '../../../../src/telemetry/traces/open-traces.ts';
import { startCollector, type Collector } from '../../../support/metrics/collector.ts';

async function withCollector(work: (collector: Collector) => Promise<void>): Promise<void> {
  const collector = await startCollector();
  try {
    await work(collector);
  } finally {
    collector.close();
  }
}

const SERVICE = {
  createInvoice: async () => ({ kind: 'lost', reason: { code: 'timeout', message: 'Maria' }, retryAfterMs: null }),
} as unknown as InvoicingService;
/** All that the interceptor reads of an activity. */
const ACTIVITY = {
  info: {
    activityType: 'submitSlice',
    activityId: '7',
    inWorkflow: true,
    workflowExecution: { workflowId: 'w', runId: 'r' },
  },
} as unknown as Context;
const LOG = { warn: () => undefined };

describe('traces', () => {
  it('have a span for a POST, which says what its answer means and nothing of the invoice', async () => {
    await withCollector(async ({ endpoint, got }) => {
      const traces = openTraces({ endpoint, postShare: 1, version: '1', role: 'worker', log: LOG });

      await traces.service(SERVICE).createInvoice('{"customer":"Maria"}', 'lote_key');
      await traces.close();

      expect(got).toHaveLength(1);
      expect(got[0]).toMatch(/^\/v1\/traces /);
      expect(got[0]).toContain('"name":"POST invoice"');
      expect(got[0]).toContain('"stringValue":"lost"');
      expect(got[0]).not.toMatch(/Maria|lote_key/);
    });
  });

  it('have none for a POST outside the share', async () => {
    await withCollector(async ({ endpoint, got }) => {
      const traces = openTraces({ endpoint, postShare: 0, version: '1', role: 'worker', log: LOG });

      await traces.service(SERVICE).createInvoice('{}', 'lote_key');
      await traces.close();

      expect(got).toEqual([]);
    });
  });

  it('say that an activity failed, and nothing of its error', async () => {
    await withCollector(async ({ endpoint, got }) => {
      const traces = openTraces({ endpoint, postShare: 1, version: '1', role: 'worker', log: LOG });
      const { inbound } = traces.interceptors.activity?.[0]?.(ACTIVITY) ?? {};
      const failing = async (): Promise<never> => {
        throw new Error('Maria Silva, 123.456.789-09, postgresql://lote:secret@db');
      };

      await expect(inbound?.execute?.({ args: [], headers: {} }, failing)).rejects.toThrow('Maria');
      await traces.close();

      expect(got).toHaveLength(1);
      expect(got[0]).toContain('"name":"RunActivity:submitSlice"');
      expect(got[0]).toContain('"status":{"code":2}');
      expect(got[0]).not.toMatch(/Maria|123\.456|secret|exception/);
    });
  });

  it('that nobody takes cost no POST its answer, and are told of once', async () => {
    const warned: string[] = [];
    const log = { warn: (message: string) => void warned.push(message) };
    const traces = openTraces({ endpoint: 'http://127.0.0.1:9', postShare: 1, version: '1', role: 'worker', log });

    const answer = await traces.service(SERVICE).createInvoice('{}', 'lote_key');
    await traces.close();

    expect(answer.kind).toBe('lost');
    expect(warned).toEqual(['traces cannot be sent to the collector']);
  });
});
