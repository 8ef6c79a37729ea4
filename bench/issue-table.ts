import { BLOCK_NOTE, delayText } from './measures/event-loop-watch.ts';
import type { IssueOptions, LedgerKind } from './options.ts';
import type { Table } from './print-table.ts';
import type { BareRun } from './processes/bare-process.ts';
import type { LoteRun, SpanCpu } from './processes/lote-process.ts';

export interface LoteMeasure extends LoteRun {
  readonly ledger: LedgerKind;
}

export interface IssueMeasures {
  readonly options: IssueOptions;
  /** Before, between and after the runs of Lote. */
  readonly bare: readonly BareRun[];
  readonly lote: readonly LoteMeasure[];
  readonly latencyMs: number;
  /** Of Lote and of the bare script. */
  readonly nodeVersion: string;
}

const NAMES: Readonly<Record<LedgerKind, string>> = { postgres: 'Lote on PostgreSQL', pglite: 'Lote on PGlite' };

/** The ratio of a run of Lote is to the mean of the bare runs just before and just after it. */
export function issueTable({ options, bare, lote, latencyMs, nodeVersion }: IssueMeasures): Table {
  const { invoices, settleMs } = options;
  const perSecond = (timeMs: number): string => Math.round((invoices * 1000) / timeMs).toLocaleString('en');
  const seconds = (timeMs: number): string => (timeMs / 1000).toFixed(1);
  const perInvoice = (timeMs: number): string => (timeMs / invoices).toFixed(2);
  return {
    title: `${invoices.toLocaleString('en')} invoices, answers after ${latencyMs} ms, engine after ${settleMs} ms, Node ${nodeVersion}`,
    columns: [
      ...['run', 'wall s', 'invoices/s', 'ratio', 'sending/s', 'events/invoice', 'peak RSS MB', 'CPU ms/invoice'],
      ...['main thread ms/invoice', 'longest block ms'],
    ],
    rows: [
      ...bare.map((run, at) => [
        `bare script, ${at + 1} of ${bare.length}`,
        seconds(run.wallMs),
        perSecond(run.wallMs),
        '1',
        perSecond(run.sendingMs),
        '0',
        run.peakRssMb.toFixed(0),
        perInvoice(run.cpuMs),
        ...['', ''],
      ]),
      ...lote.map((run, at) => [
        NAMES[run.ledger],
        seconds(run.wallMs),
        perSecond(run.wallMs),
        ratio(run, bare.slice(at, at + 2)).toFixed(2),
        perSecond(run.sendingMs),
        (run.historyEvents / invoices).toFixed(3),
        run.peakRssMb.toFixed(0),
        cpuText(run, invoices),
        perInvoice(run.mainThreadCpuMs),
        run.loop === null ? '' : delayText(run.loop),
      ]),
    ],
    notes: [
      'Lote: from the start of the batch to its result (file to report). Bare: from the first POST to the last webhook; it keeps nothing.',
      'Ratio: invoices/s over the mean of the bare runs just before and after. Peak RSS: the process itself, with the embedded ledger on PGlite.',
      'Main thread: receiver, sender and reading of one process share it, so one process issues at most one invoice in that time, on however many cores.',
      BLOCK_NOTE,
    ],
  };
}

/** CPU of each process, an invoice. */
export function cpuText({ cpuMs, temporalCpuMs, databaseCpuMs }: SpanCpu, invoices: number): string {
  const each = (timeMs: number): string => (timeMs / invoices).toFixed(2);
  return `${each(cpuMs)} + Temporal ${each(temporalCpuMs)} + database ${each(databaseCpuMs)}`;
}

function ratio(run: LoteMeasure, around: readonly BareRun[]): number {
  const bareMs = around.reduce((sum, one) => sum + one.wallMs, 0) / around.length;
  return bareMs / run.wallMs;
}
