import { createHash } from 'node:crypto';
import type { Finding } from '../../../src/domain/invoice.ts';
import type { BatchInvoice, BatchRecord, OutcomeCount } from '../../../src/domain/ports/ledger/batch-record.ts';
import { sumDecimals } from '../../../src/domain/money.ts';
import type { ConsoleLedger } from '../../../src/console/console-options.ts';

const NOON = Date.UTC(2026, 4, 1, 12);

/** An issued invoice of 1234.5 EUR; each test names what matters to it. */
export function anInvoice(given: Partial<BatchInvoice> = {}): BatchInvoice {
  const ordinal = given.ordinal ?? 1;
  return {
    ordinal,
    page: 1,
    ref: `F-${ordinal}`,
    merchantNif: '501964843',
    rows: [ordinal + 1],
    currency: 'EUR',
    net: '1234.5',
    state: 'issued',
    serviceId: `inv_${ordinal}`,
    idempotencyKey: `lote_${ordinal}`,
    generation: 1,
    attempts: 1,
    reason: null,
    findings: [],
    flags: [],
    sentAt: NOON,
    settledAt: NOON,
    ...given,
  };
}

export function aBatch(given: Partial<BatchRecord> = {}): BatchRecord {
  const batchId = given.batchId ?? 'batch-may-0a1b2c3d';
  return {
    batchId,
    application: 'default',
    file: 'may.csv',
    sha256: createHash('sha256').update(batchId).digest('hex'),
    state: 'finished',
    workflowId: batchId,
    runId: 'run-1',
    temporalId: null,
    pageSize: 2000,
    pages: 1,
    rows: 3,
    rowsWithoutInvoice: 0,
    invoices: 3,
    startedAt: NOON,
    finishedAt: NOON + 60_000,
    revision: 1,
    fencingToken: 1,
    proof: {},
    ...given,
  };
}

export interface Held {
  readonly batch: BatchRecord;
  readonly invoices: readonly BatchInvoice[];
  readonly findings?: readonly Finding[];
}

/** A ledger of batches that stand still, and a note of how many invoices were read from it. */
export function ledgerHolding(
  held: readonly Held[],
  given: Partial<ConsoleLedger> = {},
): ConsoleLedger & { readonly read: () => number } {
  const find = (batchId: string) => held.find(({ batch }) => batch.batchId === batchId);
  let read = 0;
  return {
    id: 'ledger-1',
    read: () => read,
    listBatches: async (limit, application = null) =>
      held
        .map(({ batch }) => batch)
        .filter((batch) => application === null || batch.application === application)
        .slice(0, limit),
    findBatch: async (batchId) => find(batchId)?.batch ?? null,
    countOutcomes: async (batchId) => countsOf(find(batchId)?.invoices ?? []),
    fileFindings: async (batchId) => find(batchId)?.findings ?? [],
    decidingFindings: async (batchIds) => {
      const deciding = new Set(['totals-row', 'control-totals-differ']);
      return new Map(
        batchIds.map((id) => [id, (find(id)?.findings ?? []).filter(({ code }) => deciding.has(code))] as const),
      );
    },
    contradictedInvoices: async (batchIds) =>
      new Map(
        batchIds.flatMap((id) => {
          const inDoubt = (find(id)?.invoices ?? []).filter(({ contradictions = [] }) => contradictions.length > 0);
          const refs = inDoubt.map(({ ref }) => ref);
          return inDoubt.length === 0 ? [] : [[id, { invoices: inDoubt.length, refs }] as const];
        }),
      ),
    unmatchedDeliveries: async () => 0,
    batchOfFile: async (application, sha256) =>
      held.find(({ batch }) => batch.application === application && batch.sha256 === sha256)?.batch ?? null,
    batchFigures: async () => [],
    reportedOutcomes: async () => null,
    searchInvoices: async () => ({ found: [], lookedAt: 0, backTo: null, next: null }),
    invoiceDetails: async (batchId, ordinal) => {
      const line = find(batchId)?.invoices.find((invoice) => invoice.ordinal === ordinal);
      return line === undefined
        ? null
        : { line, content: null, generations: [], deliveries: [], batches: [], tries: [], actions: [] };
    },
    auditOf: async () => [],
    totalCheck: async () => null,
    async *batchInvoices(batchId) {
      for (const invoice of find(batchId)?.invoices ?? []) {
        read += 1;
        yield [invoice];
      }
    },
    invoicesWith: async (batchId, { outcomes, after = 0, skip = 0, limit }) => {
      const all = (find(batchId)?.invoices ?? []).filter(
        ({ state, ordinal }) => outcomes.has(state) && ordinal > after,
      );
      const portion = all.slice(skip, skip + limit);
      read += portion.length;
      return portion;
    },
    ...given,
  };
}

function countsOf(invoices: readonly BatchInvoice[]): readonly OutcomeCount[] {
  const groups = new Map<string, BatchInvoice[]>();
  for (const invoice of invoices) {
    const key = `${invoice.state} ${invoice.currency}`;
    groups.set(key, [...(groups.get(key) ?? []), invoice]);
  }
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const nets = group.flatMap(({ net }) => net ?? []);
    return [
      {
        outcome: first.state,
        currency: first.currency,
        invoices: group.length,
        net: sumDecimals(nets),
        withoutAmount: group.length - nets.length,
      },
    ];
  });
}
