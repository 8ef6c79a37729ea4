import { describe, expect, it } from 'vitest';
import { createDeliveryApplier } from '../../../src/webhooks/delivery-groups.ts';
import type { AppliedDeliveries, RecordDelivery } from '../../../src/ledger/webhooks/deliveries.ts';

const NOTHING: AppliedDeliveries = { settled: [], toConfirm: [] };

function news(serviceId: string | null, verdict: 'issued' | 'failed' | null = 'issued'): RecordDelivery {
  const event = { type: 't', eventId: null, serviceId, verdict, reason: null };
  return { sha256: String(serviceId), raw: new Uint8Array(), receivedAt: 0, event };
}

function applierOf(apply: (ids: readonly string[]) => Promise<AppliedDeliveries>) {
  const groups: (readonly string[])[] = [];
  const applied: AppliedDeliveries[] = [];
  const logged: string[] = [];
  const applier = createDeliveryApplier({
    apply: (ids) => {
      groups.push(ids);
      return apply(ids);
    },
    onApplied: (some) => applied.push(some),
    log: { warn: (message, fields) => logged.push(`${message} ${JSON.stringify(fields)}`) },
  });
  return { applier, groups, applied, logged };
}

describe('createDeliveryApplier', () => {
  it('applies what came together in one go, each id once, and tells what it did', async () => {
    const result: AppliedDeliveries = {
      settled: [],
      toConfirm: [{ invoiceId: 1, serviceId: 'inv_2', failedEvent: { reason: null } }],
    };
    const { applier, groups, applied } = applierOf(() => Promise.resolve(result));

    applier.add([news('inv_1')]);
    applier.add([news('inv_2', 'failed'), news('inv_2')]);
    applier.add([news('inv_1')]);
    await applier.idle();

    expect(groups).toEqual([['inv_1', 'inv_2']]);
    expect(applied).toEqual([result]);
  });

  it('leaves alone what says nothing final of an invoice', async () => {
    const { applier, groups } = applierOf(() => Promise.resolve(NOTHING));

    applier.add([news('inv_1', null), news(null), { ...news('inv_2'), event: null }]);
    await applier.idle();

    expect(groups).toEqual([]);
  });

  it('takes what comes while it applies with the next group', async () => {
    const { applier, groups } = applierOf((ids) => {
      if (ids.includes('inv_1')) applier.add([news('inv_2'), news('inv_3')]);
      return Promise.resolve(NOTHING);
    });

    applier.add([news('inv_1')]);
    await applier.idle();

    expect(groups).toEqual([['inv_1'], ['inv_2', 'inv_3']]);
  });

  it('goes on after a failure, and says so without the reason that may hold data', async () => {
    const { applier, applied, logged } = applierOf((ids) =>
      ids.includes('inv_1') ? Promise.reject(new Error('secret detail')) : Promise.resolve(NOTHING),
    );

    applier.add([news('inv_1')]);
    await applier.idle();
    applier.add([news('inv_2')]);
    await applier.idle();

    expect(applied).toEqual([NOTHING]);
    expect(logged).toHaveLength(1);
    expect(logged[0]).not.toContain('secret detail');
  });
});
