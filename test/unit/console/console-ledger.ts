import { createHash } from 'node:crypto';
import type { Finding } from '../../../src/domain/invoice.ts';
import { createConsoleApp, startConsole } from '../../../src/console/console-app.ts';
import type { ConsoleActions, ConsoleOptions } from '../../../src/console/console-options.ts';
import { batchInvoice, batchOf, countsOf, NOON } from '../report/batch-invoices.ts';
import type { Ledger } from '../../../src/ledger/ledger.ts';
import type { BatchInvoice, BatchRecord } from '../../../src/domain/records/batch-record.ts';

/** An issued invoice of one row, 1234.5 EUR; each test names what matters to it. */
export function anInvoice(given: Partial<BatchInvoice> = {}): BatchInvoice {
  const ordinal = given.ordinal ?? 1;
  const one = { rows: [ordinal + 1], net: '1234.5', idempotencyKey: `lote_${ordinal}`, settledAt: NOON };
  return batchInvoice({ ...one, ...given });
}

/** A finished batch of three invoices. */
export function aBatch(given: Partial<BatchRecord> = {}): BatchRecord {
  const batchId = given.batchId ?? 'batch-may-0a1b2c3d';
  const sha256 = createHash('sha256').update(batchId).digest('hex');
  return batchOf([], { sha256, workflowId: batchId, rows: 3, invoices: 3, startedAt: NOON, revision: 1, ...given });
}

export interface Held {
  readonly batch: BatchRecord;
  readonly invoices: readonly BatchInvoice[];
  readonly findings?: readonly Finding[];
}

/** What the console reads of a ledger of batches that stand still, and a note of how many invoices were read from it. */
export function ledgerHolding(
  held: readonly Held[],
  given: Partial<Ledger> = {},
): Ledger & { readonly read: () => number } {
  const find = (batchId: string) => held.find(({ batch }) => batch.batchId === batchId);
  let read = 0;
  const ledger: Partial<Ledger> & { readonly read: () => number } = {
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
    deliveryTrouble: async () => ({ unreadable: 0, unknownIds: 0, isAnswerMissing: false }),
    batchOfFile: async (application, sha256) =>
      held.find(({ batch }) => batch.application === application && batch.sha256 === sha256)?.batch ?? null,
    batchFigures: async () => [],
    reportedOutcomes: async () => null,
    searchInvoices: async () => ({ found: [], lookedAt: 0, backTo: null, next: null }),
    invoiceDetails: async (batchId, ordinal) => {
      const line = find(batchId)?.invoices.find((invoice) => invoice.ordinal === ordinal);
      return line === undefined
        ? null
        : { line, content: null, generations: [], deliveries: [], batches: [], actions: [] };
    },
    auditOf: async () => [],
    totalCheck: async () => null,
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
  return ledger as Ledger & { readonly read: () => number };
}

type SomeActions = Partial<Omit<ConsoleActions, 'files'>> & { readonly files?: Partial<ConsoleActions['files']> };

/** Options of a console, of which a test names the actions that it needs. */
export type TestConsole = Partial<Omit<ConsoleOptions, 'actions'>> & { readonly actions?: SomeActions | undefined };

/** Actions of which only the given ones may run; no batch has a run that answers. */
export function consoleActions({ files, ...given }: SomeActions = {}): ConsoleActions {
  const fail = () => Promise.reject(new Error('must not run'));
  const mapper = { view: async () => null, save: fail };
  return {
    ...{ operate: fail, retry: fail, reconcile: fail, watch: async () => null, ...given },
    files: { keep: fail, check: fail, start: fail, mapper, ...files },
  };
}

/** Options of a console over a ledger that stands still. */
export function optionsOf({ actions, ...given }: TestConsole = {}): ConsoleOptions {
  return {
    ...{ ledger: ledgerHolding([]), reportsDir: '/nowhere', links: { temporalUi: null } },
    ...{ version: '0.1.0', timeZone: 'UTC' },
    ready: () => Promise.resolve({ status: 'ready', parts: {} }),
    ...(actions === undefined ? {} : { actions: consoleActions(actions) }),
    ...given,
  };
}

/** A console over a ledger that stands still; it has actions if the test names one. */
export function testConsole(given: TestConsole = {}) {
  return createConsoleApp(optionsOf(given));
}

/** The same, listening on a free port of this machine. */
export function startTestConsole({
  host = '127.0.0.1',
  port = 0,
  ...given
}: TestConsole & { readonly host?: string; readonly port?: number } = {}) {
  return startConsole({ ...optionsOf(given), host, port });
}

/** A page, as a browser asks for it. */
export function visit(app: ReturnType<typeof testConsole>, path: string, language = 'en') {
  return app.request(`http://127.0.0.1${path}`, { headers: { ...BROWSER, 'accept-language': language } });
}

/** The HTML of a page. */
export async function pageAt(app: ReturnType<typeof testConsole>, path: string, language = 'en'): Promise<string> {
  return (await visit(app, path, language)).text();
}

/** Sends a form of a page of this console. */
export function postForm(
  app: ReturnType<typeof testConsole>,
  path: string,
  fields: string | Readonly<Record<string, string>>,
) {
  const headers = { ...BROWSER, 'content-type': 'application/x-www-form-urlencoded' };
  return app.request(`http://127.0.0.1${path}`, {
    ...{ method: 'POST', headers, body: new URLSearchParams(fields).toString() },
  });
}

export const BROWSER = { host: '127.0.0.1', origin: 'http://127.0.0.1' };
