import { randomUUID } from 'node:crypto';
import { MockActivityEnvironment } from '@temporalio/testing';
import { afterAll, beforeAll } from 'vitest';
import type { ActivityDeps } from '../../../activities/deps.ts';
import { Calibration } from '../../../activities/calibration.ts';
import { blankCalibration, type CalibrationState } from '../../../src/domain/calibration-state.ts';
import { SendingPermission } from '../../../activities/sending/sending-permission.ts';
import { openPostgresLedger } from '../../../src/ledger/open-postgres-ledger.ts';
import type { OperatorLinks } from '../../../src/domain/messages/messages.ts';
import { ENGLISH } from '../../../src/texts/languages.ts';
import { createScenario, NOW, type Scenario, type TestBatch } from '../../contract/ledger/scenario.ts';
import { postgresSchema, postgresUrl } from '../../support/servers/postgres-database.ts';
import { temporaryLedger } from '../../support/servers/temporary-database.ts';
import type { InvoicingService } from '../../../src/service/client.ts';
import type { Ledger } from '../../../src/ledger/ledger.ts';
import type { SendOutcome } from '../../../src/ledger/sending/record-answers.ts';

export interface Logged {
  readonly level: 'info' | 'warn' | 'error';
  readonly message: string;
  readonly fields: Record<string, unknown>;
}

export const DESK: OperatorLinks = { searchable: false, console: null, reportsDir: '/reports' };

/** What the service profile says of trying again, unless a test says otherwise. */
export const RETRY: ActivityDeps['settings']['retry'] = {
  ...{ failedReasonCodes: [], maxGenerations: 3 },
  ...{ retentionMs: 86_400_000, rejectionIsProof: true, refusedRepeatIsProof: false },
};

/** A worker's parts for one test: a real ledger, a service that answers what the test says, and a clock that stands still. */
export interface ActivityPlace {
  readonly scenario: Scenario;
  readonly deps: ActivityDeps;
  readonly logged: Logged[];
  /** Moves the clock. */
  later(ms: number): void;
  /** What another process knows of the service profile. */
  elsewhere(): ActivityDeps['calibration'];
  /** An operator confirms the service profile. */
  trust(): Promise<void>;
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
  /** False: the service profile is not proved yet. */
  readonly isProved?: boolean;
}) => ActivityPlace {
  let ledger: Ledger | null = null;
  const url = postgresUrl();
  // The contract suite holds both drivers to one behaviour; PostgreSQL answers many times faster.
  const place = url === null ? null : postgresSchema(url);
  beforeAll(async () => {
    ledger = place === null ? await temporaryLedger() : await openPostgresLedger({ ...place });
  });
  afterAll(async () => {
    await ledger?.close();
    await place?.drop();
  });

  return ({ service = {}, settings = {}, over = {}, isProved = true } = {}) => {
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
    const process = () =>
      new Calibration({
        ...{ ledger: isProved ? proved(open) : open, service: called, profileDigest, now: () => clock },
        rules: {
          ...{ issued: ['issued'], failed: ['failed'], expectsEvents: true },
          ...{ noEventsMs: 30_000, secondLookMs: 15_000, earlyLookMs: 450_000 },
        },
        log: { info: note('info'), warn: note('warn'), error: note('error') },
      });
    const calibration = process();
    const deps: ActivityDeps = {
      application: scenario.application,
      speech: ENGLISH,
      ledger: open,
      service: called,
      calibration,
      files: new Proxy({} as ActivityDeps['files'], { get: () => untouched('the file reader') }),
      reports: {
        write: () => untouched('the report writer'),
        reuse: () => untouched('the reader of reports'),
      },
      runs: {
        isOpen: () => untouched('the list of runs'),
        isSwitchedOff: () => Promise.resolve(false),
        stopOf: () => untouched('the list of runs'),
      },
      restartRuns: () => Promise.resolve([]),
      notifyWaiting: () => Promise.resolve(),
      // No archived file has changed.
      drops: {
        claim: () => untouched('the drop folder'),
        archive: () => untouched('the drop folder'),
        changed: () => Promise.resolve([]),
        close: () => untouched('the drop folder'),
      },
      nights: new Proxy({} as ActivityDeps['nights'], { get: () => untouched('the night book') }),
      messages: null,
      announce: () => Promise.resolve(),
      requireAccount: () => Promise.resolve(),
      noteSends: () => Promise.resolve(),
      permission: new SendingPermission({ ledger: open, calibration, log: { warn: note('warn') } }),
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
    const later = (ms: number): void => void (clock += ms);
    const trust = async (): Promise<void> => {
      await open.calibrate(profileDigest, (draft) => void (draft.trusted = true));
      later(1_000);
    };
    return { scenario, deps, logged, later, elsewhere: process, trust };
  };
}

/** The profile of a place is proved, unless something was found. */
function proved(ledger: Ledger): Ledger {
  const blank = JSON.stringify(blankCalibration());
  const prove = (state: CalibrationState): void => {
    if (JSON.stringify(state) !== blank) return;
    Object.assign(state, {
      opened: NOW,
      proved: ['answer issued', 'answer failed', 'event invoice.issued', 'failed event'],
    });
  };
  return {
    ...ledger,
    async calibration(digest) {
      const state = await ledger.calibration(digest);
      prove(state);
      return state;
    },
    calibrate: (digest, change) =>
      ledger.calibrate(digest, (draft) => {
        prove(draft);
        change(draft);
      }),
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
    dropConnections: () => undefined,
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

/** Texts of so many invoices, `R0` and so on. */
export function texts(count: number, letter = 'R'): { readonly ref: string }[] {
  return Array.from({ length: count }, (_, at) => ({ ref: `${letter}${at}` }));
}

/** A batch whose first invoices come to these outcomes; others are not sent. */
export async function sentBatch(
  place: ActivityPlace,
  outcomes: readonly SendOutcome[],
  unsent = 0,
  letter = 'R',
): Promise<TestBatch> {
  const batch = await place.scenario.run(texts(outcomes.length + unsent, letter), 1_000);
  await sendFirst(place, batch, outcomes);
  return batch;
}

/** Runs that are all open, or have all ended in a way that Temporal does not know. */
export function runsThatAre(state: 'open' | 'ended'): ActivityDeps['runs'] {
  return {
    isOpen: () => Promise.resolve(state === 'open'),
    isSwitchedOff: () => Promise.resolve(false),
    stopOf: () => Promise.resolve(null),
  };
}

/** Counts of a batch by outcome. */
export async function outcomesOf({ deps }: ActivityPlace, batchId: string): Promise<Record<string, number>> {
  const counted = await deps.ledger.countOutcomes(batchId);
  return Object.fromEntries(counted.map(({ outcome, invoices }) => [outcome, invoices]));
}
