import { median } from '../measures/median.ts';
import type { Table } from '../print-table.ts';
import { BARE_TITLE, type Contender } from './contenders.ts';
import { LATENCY_MS, SETTLE_MS } from './fake.ts';
import { CONNECTIONS, type Sample } from './run-contender.ts';

export interface Round {
  readonly bare: readonly Sample[];
  /** By name of the contender. */
  readonly samples: ReadonlyMap<string, Sample>;
}

/** Medians over the rounds; a ratio is to the median of the bare script in the same round. */
export function peersTable(given: {
  readonly invoices: number;
  readonly contenders: readonly Contender[];
  readonly rounds: readonly Round[];
  readonly loads: readonly (readonly number[])[];
  readonly nodeVersion: string;
}): Table {
  const { invoices, rounds } = given;
  const rows = [
    row(
      BARE_TITLE,
      rounds.map(({ bare }) => bare),
      given,
    ),
    ...given.contenders.map(({ name, title }) =>
      row(
        title,
        rounds.map(({ samples }) => [samples.get(name)].filter((one) => one !== undefined)),
        given,
      ),
    ),
  ];
  const [before, after] = given.loads.map((load) => load.map((one) => one.toFixed(1)).join(', '));
  return {
    title: `${invoices.toLocaleString('en')} invoices, ${rounds.length} rounds, answers after ${LATENCY_MS} ms, webhooks after ${SETTLE_MS} ms, ${CONNECTIONS} POSTs at a time`,
    columns: ['who', 'invoices/s', 'ratio', 'with file', 'ratio with file', 'CPU ms/invoice', 'peak PSS MB'],
    rows,
    notes: [
      'invoices/s: first POST to last webhook, as the service saw it. With file: from the file, or the start of enqueueing, until all is known to be settled (Lote: with its report).',
      'CPU and memory: all processes of an engine, its servers among them, without the service. Medians; a ratio is to the bare script of the same round.',
      `Load of the machine before: ${before}; after: ${after}. Node ${given.nodeVersion}; job queues that need a newer one run on that of bench/peers.`,
    ],
  };
}

function row(
  title: string,
  samples: readonly (readonly Sample[])[],
  { invoices, rounds }: { readonly invoices: number; readonly rounds: readonly Round[] },
): readonly string[] {
  const all = samples.flat();
  if (all.length === 0) return [title, 'left out', '', '', '', '', ''];
  const rate = (time: (sample: Sample) => number): string =>
    Math.round((invoices * 1000) / median(all.map(time))).toLocaleString('en');
  const ratio = (time: (sample: Sample) => number): string =>
    median(
      samples.flatMap((some, at) => some.map((one) => median((rounds[at]?.bare ?? []).map(time)) / time(one))),
    ).toFixed(2);
  const windowMs = (sample: Sample): number => sample.windowMs;
  const jobMs = (sample: Sample): number => sample.jobMs;
  return [
    title,
    ...[rate(windowMs), ratio(windowMs), rate(jobMs), ratio(jobMs)],
    (median(all.map(({ cpuMs }) => cpuMs)) / invoices).toFixed(2),
    median(all.map(({ peakMb }) => peakMb)).toFixed(0),
  ];
}
