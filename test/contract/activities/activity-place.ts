import { randomUUID } from 'node:crypto';
import { MockActivityEnvironment } from '@temporalio/testing';
import { afterAll, beforeAll } from 'vitest';
import type { ActivityDeps } from '../../../activities/deps.ts';
import { createAnswerWatch } from '../../../activities/profile-fit/answer-watch.ts';
import { createSendingPermission } from '../../../activities/sending/sending-permission.ts';
import { idempotencyKeyOf } from '../../../src/domain/fingerprint.ts';
import type { InvoicingService } from '../../../src/domain/ports/invoicing-service.ts';
import type { Ledger } from '../../../src/domain/ports/ledger/ledger.ts';
import type { SendOutcome } from '../../../src/domain/ports/ledger/sending-ledger.ts';
import { openPostgresLedger } from '../../../src/ledger/database/postgres/open-postgres-ledger.ts';
import type { OperatorLinks } from '../../../src/contract/messages.ts';
import { ENGLISH } from '../../../src/texts/choose-language.ts';
import { createScenario, NOW, type Scenario, type TestBatch } from '../../contract/ledger/scenario.ts';
import { postgresSchema, postgresUrl } from '../../support/servers/postgres-schema.ts';
import { temporaryLedger } from '../../support/servers/temporary-database.ts';

export interface Logged {
  readonly level: 'info' | 'warn' | 'error';
  readonly message: string;
  readonly fields: Record<string, unknown>;
}

export const DESK: OperatorLinks = { searchable: false, console: null, reportsDir: '/reports' };

/** What the service profile says of trying again, unless a test says otherwise. */
export const RETRY: ActivityDeps['settings']['retry'] = {
  ...{ failedReasonCodes: [], maxGenerations: 3, repeatsPerInvoice: 3 },
  ...{ retentionMs: 86_400_000, rejectionIsProof: true, refusedRepeatIsProof: false },
};

/** A worker's parts for one test: a real ledger, a service that answers what the test says, and a clock that stands still. */
export interface ActivityPlace {
  readonly scenario: Scenario;
  readonly deps: ActivityDeps;
  readonly logged: Logged[];
  /** Moves the clock. */
  later(ms: number): void;
}

/** How a part is called that the test did not expect to be touched. */
function untouched(part: string): never {
  throw new Error(`The test did not expect ${part} to be used`);
}

/** One ledger for the test file; each place has an application of its own. */
export function activityPlaces(): (parts?: {
  readonly service?: Partial<InvoicingService>;
  readonly settings?: Partial<ActivityDeps['settings']>;
  readonly over?: Partial<ActivityDeps>;
}) => ActivityPlace {
  let ledger: Ledger | null = null;
  const url = postgresUrl();
  // The contract suite holds both drivers to one behaviour; PostgreSQL answers many times faster.
  const place = url === null ? null : postgresSchema(url);
  beforeAll(async () => {
    ledger = place === null ? await temporaryLedger() : await openPostgresLedger({ ...place, keyOf: idempotencyKeyOf });
  });
  afterAll(async () => {
    await ledger?.close();
    await place?.drop();
  });

  return ({ service = {}, settings = {}, over = {} } = {}) => {
    const open = ledger ?? untouched('the ledger before it was opened');
    const scenario = createScenario(open);
    const logged: Logged[] = [];
    const note =
      (level: Logged['level']) =>
      (message: string, fields: Record<string, unknown> = {}): void =>
        void logged.push({ level, message, fields });
    let clock = NOW;
    const called = scriptedService(service);
    const profileDigest = `profile of ${scenario.application}`;
    const watch = createAnswerWatch({
      ...{ ledger: open, profileDigest, expectsEvents: true, issued: ['issued'], failed: ['failed'] },
      ...{ baseUrl: called.baseUrl, confirmCommand: '', secondLookMs: 0, now: () => clock },
      log: { warn: note('warn'), error: note('error') },
    });
    const deps: ActivityDeps = {
      application: scenario.application,
      speech: ENGLISH,
      isOneOfSeveral: false,
      profileDigest,
      merchantsDigest: 'how merchants are read',
      ledger: open,
      service: called,
      watch,
      files: new Proxy({} as ActivityDeps['files'], { get: () => untouched('the file reader') }),
      reports: {
        write: () => untouched('the report writer'),
        reuse: () => untouched('the reader of reports'),
        // Nothing has been restored.
        rowsNotSent: () => Promise.resolve({ firstRows: [], sentAgain: [], writtenAt: 0, folders: [] }),
      },
      runs: {
        isOpen: () => untouched('the list of runs'),
        endedForMs: () => untouched('the list of runs'),
        wasStopped: () => untouched('the list of runs'),
        temporalId: () => Promise.resolve('temporal-1'),
      },
      notifyWaiting: () => Promise.resolve(),
      drops: new Proxy({} as ActivityDeps['drops'], { get: () => untouched('the drop folder') }),
      nights: new Proxy({} as ActivityDeps['nights'], { get: () => untouched('the night book') }),
      messages: { channels: [], send: () => untouched('the messages') },
      announce: () => Promise.resolve(),
      requireAccount: () => Promise.resolve(),
      permission: createSendingPermission(open, { baseUrl: called.baseUrl, watch }),
      ensureWebhook: () => Promise.resolve(),
      settings: {
        ...{ sliceSize: 500, settleMs: 900_000, sendMs: 1_800_000, patienceMs: 3_600_000, pageSize: 2 },
        ...{ failureBudget: 0.5, totalFactor: null, maxConcurrency: 4, pollEveryMs: null, dropPatienceMs: 600_000 },
        retry: RETRY,
        ...settings,
      },
      operatorLinks: () => DESK,
      log: { info: note('info'), warn: note('warn'), error: note('error') },
      now: () => clock,
      latestNow: () => clock,
      random: () => 0.5,
      ...over,
    };
    return { scenario, deps, logged, later: (ms) => void (clock += ms) };
  };
}

function scriptedService(given: Partial<InvoicingService>): InvoicingService {
  return {
    // The breaker is a row for each address: places must not open each other's circuits.
    baseUrl: `http://${randomUUID()}.example`,
    invoiceBody: ({ ref }, merchantId) => JSON.stringify({ ref, merchantId }),
    createInvoice: () => untouched('POST /v1/invoices'),
    getInvoice: () => untouched('GET /v1/invoices'),
    listMerchants: () => untouched('GET /v1/merchants'),
    createMerchant: () => untouched('POST /v1/merchants'),
    registerWebhook: () => untouched('POST /v1/webhooks'),
    close: () => Promise.resolve(),
    ...given,
  };
}

/** Runs an activity as a worker would, with a context to heartbeat in. */
export function asActivity<I, O>(
  run: (deps: ActivityDeps, input: I) => Promise<O>,
  deps: ActivityDeps,
  input: I,
  attempt = 1,
): Promise<O> {
  return new MockActivityEnvironment({ attempt }).run(run, deps, input) as Promise<O>;
}

/** The first invoices of a batch come to these outcomes, in its order; in one statement for all. */
export async function sendFirst(
  place: ActivityPlace,
  batch: TestBatch,
  outcomes: readonly SendOutcome[],
): Promise<void> {
  const { ledger } = place.deps;
  const sent = (await batch.sendable()).slice(0, outcomes.length);
  const ids = sent.map(({ invoiceId, generation }) => ({ invoiceId, generation }));
  await ledger.freeze(
    batch.batchId,
    sent.map(({ invoice, invoiceId, generation }) => ({
      invoiceId,
      generation,
      body: JSON.stringify({ ref: invoice.ref }),
    })),
    NOW,
  );
  await ledger.recordSends(
    ids.flatMap((one, at) => {
      const outcome = outcomes[at];
      return outcome === undefined ? [] : [{ ...one, attempts: 1, sentAt: NOW, outcome }];
    }),
  );
}

/** Counts of a batch by outcome. */
export async function outcomesOf({ deps }: ActivityPlace, batchId: string): Promise<Record<string, number>> {
  const counted = await deps.ledger.countOutcomes(batchId);
  return Object.fromEntries(counted.map(({ outcome, invoices }) => [outcome, invoices]));
}
