import { promises as files, writeSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import type { ReportWriter } from '../../../activities/deps.ts';
import type { TestedParts, TestPoints } from '../../../src/app/start/test-points.ts';
import type { InvoicingService } from '../../../src/service/client.ts';
import type { Ledger } from '../../../src/ledger/ledger.ts';
import type { RunLog } from '../../../src/nightly/run-log.ts';
import type { RowStore } from '../../../src/domain/row.ts';

const STDERR = 2;

/** The crash points of each step: before the step, and after it but before its caller knows. */
const LEDGER_STEPS = {
  claimBatch: ['before-claim', 'after-claim'],
  restartStaging: ['before-restart', 'after-restart'],
  stageInvoices: ['before-invoices', 'after-invoices'],
  finishStaging: ['before-staged', 'after-staged'],
  saveEndpoint: ['before-registration-recorded', 'registration-recorded'],
  saveMerchants: ['before-merchant-recorded', 'merchant-recorded'],
  freeze: ['before-freeze', 'after-freeze'],
  advanceSendLog: ['before-mark', 'mark-raised'],
  recordSends: ['before-answer-recorded', 'answer-recorded'],
  storeDeliveries: ['before-event-recorded', 'event-recorded'],
  applyDeliveries: ['before-event-applied', 'event-applied'],
  recordStatus: ['before-status-recorded', 'status-recorded'],
  closePage: ['before-page-close', 'page-close'],
  setBatchState: ['before-batch-close', 'batch-close'],
  endBatch: ['before-batch-close', 'batch-close'],
  nextRevision: ['before-revision', 'revision'],
} as const satisfies Partial<Record<keyof Ledger, Step>>;
const ROW_STEPS = { append: ['before-rows', 'after-rows'] } as const satisfies Partial<Record<keyof RowStore, Step>>;
const SERVICE_STEPS = {
  registerWebhook: ['before-registration', 'after-registration'],
  createMerchant: ['before-merchant-post', 'after-merchant-post'],
  createInvoice: ['before-post', 'after-post'],
} as const satisfies Partial<Record<keyof InvoicingService, Step>>;
const REPORT_STEPS = {
  write: ['before-report-write', 'report-write'],
} as const satisfies Partial<Record<keyof ReportWriter, Step>>;
const NIGHTLY_STEPS = {
  record: ['before-night-recorded', 'night-recorded'],
  finish: ['before-night-finished', 'night-finished'],
} as const satisfies Partial<Record<keyof RunLog, Step>>;
const SIGNAL_STEP = ['before-signal', 'after-signal'] as const;
/** A step of the drop folder ends when this function of `node:fs` has made this path. */
const DROP_STEPS = {
  'file-claimed': ['rename', /\/in-progress\/[^/]+\/\d[^/]*\/[^/]+$/u],
  'note-placed': ['link', /\.note\.txt$/u],
  'file-archived': ['rename', /\/(?:archive|refused)\/[^/]+\/[^/]+$/u],
} as const;

type Step = readonly [before: string, after: string];

/** The names that CRASH_AT accepts, in the order in which a batch reaches them. */
export const CRASH_POINTS: readonly string[] = [
  ...LEDGER_STEPS.claimBatch,
  ...LEDGER_STEPS.restartStaging,
  ...ROW_STEPS.append,
  ...LEDGER_STEPS.stageInvoices,
  ...LEDGER_STEPS.finishStaging,
  ...SERVICE_STEPS.registerWebhook,
  ...LEDGER_STEPS.saveEndpoint,
  ...SERVICE_STEPS.createMerchant,
  ...LEDGER_STEPS.saveMerchants,
  ...LEDGER_STEPS.freeze,
  ...LEDGER_STEPS.advanceSendLog,
  ...SERVICE_STEPS.createInvoice,
  ...LEDGER_STEPS.recordSends,
  ...LEDGER_STEPS.storeDeliveries,
  ...LEDGER_STEPS.applyDeliveries,
  ...LEDGER_STEPS.recordStatus,
  ...SIGNAL_STEP,
  ...LEDGER_STEPS.closePage,
  ...LEDGER_STEPS.setBatchState,
  ...REPORT_STEPS.write,
  ...LEDGER_STEPS.nextRevision,
];

/** The points of a night outside its batches, in order. */
export const NIGHTLY_CRASH_POINTS: readonly string[] = [
  ...Object.keys(DROP_STEPS),
  ...NIGHTLY_STEPS.record,
  ...NIGHTLY_STEPS.finish,
];

export interface CrashOptions {
  /** `[temporal@|stop@]<point>[:<count>]`, from CRASH_AT. */
  readonly crashAt: string;
  readonly killSelf: () => void;
  /** Stops this process until the test, which ends another process such as the database, lets it continue. */
  readonly stopSelf: (point: string) => void;
}

const ALL_POINTS: ReadonlySet<string> = new Set([...CRASH_POINTS, ...NIGHTLY_CRASH_POINTS]);

const SHAPE = /^(?:(?<target>temporal|stop)@)?(?<point>[a-z-]+)(?::(?<time>[1-9]\d{0,5}))?$/;

/** Makes the crash points of a process. @throws Error for a point that does not exist. */
export function createCrashPoints(options: CrashOptions): TestPoints {
  const { target, point, time } = SHAPE.exec(options.crashAt)?.groups ?? {};
  if (point === undefined || !ALL_POINTS.has(point)) throw unknownPoint(options.crashAt);
  let killTemporal = (): void => undefined;
  const end = { stop: options.stopSelf, temporal: () => killTemporal() }[target ?? ''] ?? options.killSelf;
  let left = Number(time ?? 1);

  function reached(name: string): void {
    if (name !== point) return;
    left -= 1;
    if (left === 0) end(name);
  }

  const wraps: { readonly [Kind in keyof TestedParts]: (part: TestedParts[Kind]) => TestedParts[Kind] } = {
    ledger: (ledger) => withRowSteps(between(ledger, LEDGER_STEPS, reached), reached),
    service: (service) => between(service, SERVICE_STEPS, reached),
    reports: (reports) => between(reports, REPORT_STEPS, reached),
    nights: (book) => between(book, NIGHTLY_STEPS, reached),
    signal: (send) => async (workflowId, ordinals) => {
      reached(SIGNAL_STEP[0]);
      await send(workflowId, ordinals);
      reached(SIGNAL_STEP[1]);
    },
    buffersRows: () => !ROW_STEPS.append.some((name) => name === point),
    temporal(server) {
      killTemporal = () => server.kill();
      return server;
    },
  };
  watchDrops(reached);
  return (kind, part) => wraps[kind](part);
}

function watchDrops(reached: (point: string) => void): void {
  for (const [point, [name, path]] of Object.entries(DROP_STEPS)) {
    const step = files[name];
    files[name] = async (from, to) => {
      await step(from, to);
      if (path.test(String(to))) reached(point);
    };
  }
  syncBuiltinESMExports();
}

/** Wraps a part so that its named methods report their crash points. */
function between<Part extends object>(
  part: Part,
  steps: Readonly<Record<string, Step>>,
  reached: (point: string) => void,
): Part {
  return new Proxy(part, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      const step = typeof name === 'string' ? steps[name] : undefined;
      if (step === undefined || typeof value !== 'function') return value;
      return async (...args: readonly unknown[]): Promise<unknown> => {
        reached(step[0]);
        const result: unknown = await Reflect.apply(value, target, args);
        reached(step[1]);
        return result;
      };
    },
  });
}

/** Wraps the row store of each claim, because rows do not go through the ledger's own methods. */
function withRowSteps(ledger: Ledger, reached: (point: string) => void): Ledger {
  const rowStore: Ledger['rowStore'] = (claim) => between(ledger.rowStore(claim), ROW_STEPS, reached);
  return new Proxy(ledger, {
    get: (target, name) => (name === 'rowStore' ? rowStore : (Reflect.get(target, name) as unknown)),
  });
}

function unknownPoint(crashAt: string): Error {
  return new Error(
    `CRASH_AT must be [temporal@|stop@]<point>[:<which time>] with a point of ${[...ALL_POINTS].join(', ')}; found ${JSON.stringify(crashAt)}.`,
  );
}

/** Kills this process at a crash point: no handler runs and no buffer is flushed. */
export function killSelf(): void {
  process.kill(process.pid, 'SIGKILL');
}

/** Reports a crash point and stops until SIGCONT. Writes without a buffer, because this process runs no code then. */
export function stopSelf(point: string): void {
  writeSync(STDERR, `CRASH_AT: stopped at ${point}\n`);
  process.kill(process.pid, 'SIGSTOP');
}
