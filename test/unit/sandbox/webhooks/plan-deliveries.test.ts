import { describe, expect, it } from 'vitest';
import { restoreApplications } from '../../../../src/sandbox/application.ts';
import { createChance } from '../../../../src/sandbox/chance.ts';
import type { Context } from '../../../../src/sandbox/context.ts';
import { checkedFaults } from '../../../../src/sandbox/faults.ts';
import type { Faults } from '../../../../src/sandbox/faults.ts';
import type { EventType, InvoiceError, InvoiceRecord } from '../../../../src/sandbox/records.ts';
import { NO_LOG } from '../../../../src/sandbox/sandbox-log.ts';
import { planDeliveries } from '../../../../src/sandbox/webhooks/plan-deliveries.ts';

const INVOICE: InvoiceRecord = {
  id: 'inv_1',
  applicationId: 'app_1',
  merchantId: 'mrc_1',
  idempotencyKey: null,
  bodySha256: 'sha',
  createdAt: 0,
  status: 'processing',
  error: null,
  settledAt: null,
};
const BOTH: readonly EventType[] = ['invoice.issued', 'invoice.failed'];
const ERROR: InvoiceError = { code: 'no', message: 'No.' };

interface Scene {
  readonly faults?: Partial<Faults>;
  readonly error?: InvoiceError | null;
  /** The events of each endpoint. */
  readonly endpoints?: readonly (readonly EventType[])[];
}

/** What the endpoints will be told: endpoint, event and invoice, forged or not, and the wait. */
function planned({ faults = {}, error = null, endpoints = [BOTH] }: Scene): readonly string[] {
  const checked = checkedFaults(faults);
  // Far from the invoice of the scene, which is inv_1.
  let ids = 100;
  const context: Context = {
    applications: restoreApplications({
      merchants: [],
      invoices: [INVOICE],
      processingBodies: new Map(),
      webhooks: endpoints.map((events, index) => ({
        id: `whk_${index}`,
        applicationId: 'app_1',
        url: `https://example.test/${index}`,
        events,
        secret: 'whsec_1',
        createdAt: 0,
      })),
      storedErrors: [],
      deliveries: [],
    }),
    faults: checked,
    chance: createChance(checked, 'seed'),
    clock: () => 0,
    random: () => 0,
    newId: (prefix) => `${prefix}${(ids += 1)}`,
    log: NO_LOG,
    commit: async () => {},
    invoiceBody: async () => '',
    latency: async () => {},
  };
  return planDeliveries(context, { invoice: INVOICE, error, at: 1000 }).map(
    ({ webhookId, body, forged, nextAttemptAt }) => {
      const event = JSON.parse(body) as { readonly type: string; readonly data: { readonly id: string } };
      const about = event.data.id === INVOICE.id ? 'it' : 'a stranger';
      return `${webhookId} ${event.type} of ${about}${forged ? ', forged' : ''} after ${nextAttemptAt - 1000}`;
    },
  );
}

describe('planDeliveries', () => {
  it('tells each endpoint the truth once', () => {
    expect(planned({ endpoints: [BOTH, BOTH] })).toEqual([
      'whk_0 invoice.issued of it after 0',
      'whk_1 invoice.issued of it after 0',
    ]);
    expect(planned({ error: ERROR })).toEqual(['whk_0 invoice.failed of it after 0']);
  });

  it('tells an endpoint only what it asked for', () => {
    expect(planned({ endpoints: [['invoice.failed']] })).toEqual([]);
    expect(planned({ endpoints: [['invoice.failed']], error: ERROR })).toHaveLength(1);
    expect(planned({ endpoints: [] })).toEqual([]);
  });

  it.each<[string, Partial<Faults>, readonly string[]]>([
    ['dropped', { webhookDropped: 1 }, []],
    [
      'duplicated',
      { webhookDuplicated: 1 },
      ['whk_0 invoice.issued of it after 0', 'whk_0 invoice.issued of it after 0'],
    ],
    ['late', { webhookLate: 1, lateMs: 70 }, ['whk_0 invoice.issued of it after 70']],
    [
      'forged',
      { webhookForged: 1 },
      ['whk_0 invoice.failed of it, forged after 0', 'whk_0 invoice.issued of it after 0'],
    ],
    [
      'contradictory',
      { contradictoryEvents: 1 },
      ['whk_0 invoice.failed of it after 0', 'whk_0 invoice.issued of it after 0'],
    ],
    [
      'stray',
      { webhookStray: 1 },
      ['whk_0 invoice.issued of a stranger after 0', 'whk_0 invoice.issued of it after 0'],
    ],
    ['dropped, but duplicated', { webhookDropped: 1, webhookDuplicated: 1 }, ['whk_0 invoice.issued of it after 0']],
  ])('%s', (_, faults, expected) => {
    expect(planned({ faults })).toEqual(expected);
  });

  it('forges nothing that the endpoint did not ask for', () => {
    const faults = { webhookForged: 1, contradictoryEvents: 1 };

    expect(planned({ faults, endpoints: [['invoice.issued']] })).toEqual(['whk_0 invoice.issued of it after 0']);
  });

  it('holds a reordered event back by a time that belongs to the invoice', () => {
    const faults = { webhookReordered: 1, reorderMs: 1000 };

    const [first] = planned({ faults });

    expect(first).toMatch(/^whk_0 invoice\.issued of it after [1-9]\d{0,2}$/);
    expect(planned({ faults })).toEqual([first]);
  });
});
