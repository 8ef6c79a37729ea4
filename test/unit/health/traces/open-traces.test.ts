import type { Context } from '@temporalio/activity';
import { describe, expect, it } from 'vitest';
import { openTraces } from '../../../../src/health/traces/open-traces.ts';
import { startCollector, type Collector } from '../../../support/metrics.ts';

async function withCollector(work: (collector: Collector) => Promise<void>): Promise<void> {
  const collector = await startCollector();
  try {
    await work(collector);
  } finally {
    collector.close();
  }
}

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
  it('say that an activity failed, and nothing of its error', async () => {
    await withCollector(async ({ endpoint, got }) => {
      const traces = openTraces({ endpoint, version: '1', role: 'worker', log: LOG });
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

  it('without a collector cost no activity its result, and are reported once', async () => {
    const warned: string[] = [];
    const log = { warn: (message: string) => void warned.push(message) };
    const traces = openTraces({ endpoint: 'http://127.0.0.1:9', version: '1', role: 'worker', log });
    const { inbound } = traces.interceptors.activity?.[0]?.(ACTIVITY) ?? {};

    const result = await inbound?.execute?.({ args: [], headers: {} }, async () => 'done');
    await traces.close();

    expect(result).toBe('done');
    expect(warned).toEqual(['traces cannot be sent to the collector']);
  });
});
