import { writeSync } from 'node:fs';
import type { ReportWriter } from '../../../activities/deps.ts';
import { LoteError } from '../../domain/errors.ts';
import type { InvoicingService } from '../../domain/ports/invoicing-service.ts';
import type { Ledger } from '../../domain/ports/ledger/ledger.ts';
import type { RunLog } from '../../domain/ports/run-log.ts';
import type { RowStore } from '../../domain/ports/row-store.ts';
import { DROP_POINTS, type DropPoint } from '../../drop/drop-point.ts';

const STDERR = 2;

/** Around each step of an invoice: before it, and after it was done but before it was reported. */
const LEDGER_STEPS = {
  claimBatch: ['before-claim', 'after-claim'],
  restartStaging: ['before-restart', 'after-restart'],
  stageInvoices: ['before-invoices', 'after-invoices'],
  finishStaging: ['before-staged', 'after-staged'],
  saveEndpoint: ['before-registration-recorded', 'registration-recorded'],
  saveMerchants: ['before-merchant-recorded', 'merchant-recorded'],
  freeze: ['before-freeze', 'after-freeze'],
  raiseSendingMark: ['before-mark', 'mark-raised'],
  recordSends: ['before-answer-recorded', 'answer-recorded'],
  storeDeliveries: ['before-event-recorded', 'event-recorded'],
  applyDeliveries: ['before-event-applied', 'event-applied'],
  recordStatus: ['before-status-recorded', 'status-recorded'],
  closePage: ['before-page-close', 'page-close'],
  setBatchState: ['before-batch-close', 'batch-close'],
  endBatch: ['before-batch-close', 'batch-close'],
  nextRevision: ['before-revision', 'revision'],
  holdDoubtful: ['before-doubtful-held', 'doubtful-held'],
} as const satisfies Partial<Record<keyof Ledger, Step>>;
const ROW_STEPS = { append: ['before-rows', 'after-rows'] } as const satisfies Partial<Record<keyof RowStore, Step>>;
const SERVICE_STEPS = {
  registerWebhook: ['before-registration', 'after-registration'],
  createMerchant: ['before-merchant-post', 'after-merchant-post'],
  createInvoice: ['before-post', 'after-post'],
} as const satisfies Partial<Record<keyof InvoicingService, Step>>;
const REPORT_STEPS = {
  rowsNotSent: ['before-lost-reports', 'after-lost-reports'],
  write: ['before-report-write', 'report-write'],
} as const satisfies Partial<Record<keyof ReportWriter, Step>>;
const NIGHTLY_STEPS = {
  record: ['before-night-recorded', 'night-recorded'],
  finish: ['before-night-finished', 'night-finished'],
} as const satisfies Partial<Record<keyof RunLog, Step>>;
const SIGNAL_STEP = ['before-signal', 'after-signal'] as const;

type Step = readonly [before: string, after: string];

/** The names that LOTE_CRASH_AT takes, in the order in which a batch comes to them. */
export const CRASH_POINTS: readonly string[] = [
  ...LEDGER_STEPS.claimBatch,
  ...LEDGER_STEPS.restartStaging,
  ...ROW_STEPS.append,
  ...LEDGER_STEPS.stageInvoices,
  ...LEDGER_STEPS.finishStaging,
  ...REPORT_STEPS.rowsNotSent,
  ...SERVICE_STEPS.registerWebhook,
  ...LEDGER_STEPS.saveEndpoint,
  ...SERVICE_STEPS.createMerchant,
  ...LEDGER_STEPS.saveMerchants,
  LEDGER_STEPS.freeze[0],
  ...LEDGER_STEPS.raiseSendingMark,
  LEDGER_STEPS.freeze[1],
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

/** Where a report of the lost time holds invoices of a restored ledger, in its order. */
export const RESTORE_CRASH_POINTS: readonly string[] = [...REPORT_STEPS.rowsNotSent, ...LEDGER_STEPS.holdDoubtful];

/** What a night does besides its batches, in its order; with markers (`.done` files) two more. */
export const NIGHTLY_CRASH_POINTS: readonly string[] = [
  ...DROP_POINTS,
  ...NIGHTLY_STEPS.record,
  ...NIGHTLY_STEPS.finish,
];

/** What a process hands to its parts so that a test can end it between two steps. */
export interface CrashPoints {
  /** Only rows that go to the ledger lead to the point: those of a small file must, too. */
  readonly stopsAtRows: boolean;
  ledger(ledger: Ledger): Ledger;
  service(service: InvoicingService): InvoicingService;
  reports(reports: ReportWriter): ReportWriter;
  nights(book: RunLog): RunLog;
  drop(point: DropPoint): void;
  signal<A extends readonly unknown[]>(send: (...args: A) => Promise<void>): (...args: A) => Promise<void>;
}

export interface CrashOptions {
  /** `[temporal@|stop@]<point>[:<which time>]`, from LOTE_CRASH_AT; null: every part is handed back as it is. */
  readonly crashAt: string | null;
  readonly killSelf: () => void;
  readonly killTemporal: () => void;
  /** Stands still until somebody who ended something else (the database) lets it go on. */
  readonly stopSelf: (point: string) => void;
}

const ALL_POINTS: ReadonlySet<string> = new Set([...CRASH_POINTS, ...RESTORE_CRASH_POINTS, ...NIGHTLY_CRASH_POINTS]);

const SHAPE = /^(?:(?<target>temporal|stop)@)?(?<point>[a-z-]+)(?::(?<time>[1-9]\d{0,5}))?$/;

/** @throws LoteError `configuration-invalid` for a point that does not exist. */
export function createCrashPoints(options: CrashOptions): CrashPoints {
  if (options.crashAt === null) return NO_CRASH;
  const { target, point, time } = SHAPE.exec(options.crashAt)?.groups ?? {};
  if (point === undefined || !ALL_POINTS.has(point)) throw unknownPoint(options.crashAt);
  const end = endOf(options, target);
  let left = Number(time ?? 1);

  function reached(name: string): void {
    if (name !== point) return;
    left -= 1;
    if (left === 0) end(name);
  }

  return {
    stopsAtRows: ROW_STEPS.append.some((name) => name === point),
    ledger: (ledger) => withRowSteps(between(ledger, LEDGER_STEPS, reached), reached),
    service: (service) => between(service, SERVICE_STEPS, reached),
    reports: (reports) => between(reports, REPORT_STEPS, reached),
    nights: (book) => between(book, NIGHTLY_STEPS, reached),
    drop: reached,
    signal:
      (send) =>
      async (...args) => {
        reached(SIGNAL_STEP[0]);
        await send(...args);
        reached(SIGNAL_STEP[1]);
      },
  };
}

function endOf(options: CrashOptions, target: string | undefined): (point: string) => void {
  if (target === 'stop') return options.stopSelf;
  return target === 'temporal' ? options.killTemporal : options.killSelf;
}

/** What every process outside tests of crash safety has. */
export const NO_CRASH: CrashPoints = {
  stopsAtRows: false,
  ledger: (ledger) => ledger,
  service: (service) => service,
  reports: (reports) => reports,
  nights: (book) => book,
  drop: () => undefined,
  signal: (send) => send,
};

/** The same part, whose named methods tell where they are. */
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

/** Rows go through a store of their own for each claim. */
function withRowSteps(ledger: Ledger, reached: (point: string) => void): Ledger {
  const rowStore: Ledger['rowStore'] = (claim) => between(ledger.rowStore(claim), ROW_STEPS, reached);
  return new Proxy(ledger, {
    get: (target, name) => (name === 'rowStore' ? rowStore : (Reflect.get(target, name) as unknown)),
  });
}

function unknownPoint(crashAt: string): LoteError {
  return new LoteError(
    'configuration-invalid',
    `Reading LOTE_CRASH_AT (for tests only): it must be [temporal@|stop@]<point>[:<which time>] with a point of ${[...ALL_POINTS].join(', ')}; found ${JSON.stringify(crashAt)}.`,
  );
}

/** At a crash point: no handler runs, nothing is flushed. */
export function killSelf(): void {
  process.kill(process.pid, 'SIGKILL');
}

/** At a crash point: says so, and stands still until SIGCONT. Written without a buffer, for nothing of this process runs any more. */
export function stopSelf(point: string): void {
  writeSync(STDERR, `LOTE_CRASH_AT: stopped at ${point}\n`);
  process.kill(process.pid, 'SIGSTOP');
}
