import type { Table } from '../print-table.ts';
import { MEASURED_COSTS, type Costs, type Use } from './costs.ts';
import { needsOf, useOf, type Night } from './night.ts';

/** A size that was measured. */
export interface MeasuredSize {
  readonly invoices: number;
  readonly use: Use;
}

const NAMES: Readonly<Record<keyof Use, string>> = {
  loteCpuMs: 'CPU of Lote, ms',
  temporalCpuMs: 'CPU of Temporal, ms',
  postgresCpuMs: 'CPU of PostgreSQL, ms',
  events: 'history events',
  rows: 'rows that stay',
  walBytes: 'bytes of the write-ahead log',
  guardBytes: 'bytes of the duplicate guard',
  otherBytes: 'bytes of other tables',
};

const MEASURES = Object.keys(NAMES) as readonly (keyof Use)[];

/** What nights of these sizes take, one column each. */
export function needsTable(nights: readonly Night[], costs: Costs = MEASURED_COSTS): Table {
  const all = nights.map((night) => needsOf(costs, night));
  const row = (name: string, of: (needs: (typeof all)[number]) => number, digits = 0): string[] => [
    name,
    ...all.map((needs) => of(needs).toLocaleString('en', { maximumFractionDigits: digits })),
  ];
  return {
    title: 'What a night takes, by the model',
    columns: ['', ...nights.map(({ invoices, hours }) => `${invoices.toLocaleString('en')} in ${hours} h`)],
    rows: [
      row('invoices a second', ({ perSecond }) => perSecond),
      row('ledgers', ({ ledgers }) => ledgers),
      row('files of 200,000', ({ files }) => files),
      row('cores for workers and receivers', ({ cores }) => cores.lote),
      row('cores for Temporal', ({ cores }) => cores.temporal),
      row('cores for PostgreSQL', ({ cores }) => cores.postgres),
      row('receivers', ({ receivers }) => receivers),
      row('history events a second', ({ eventsPerSecond }) => eventsPerSecond),
      row('history events of a page', ({ eventsOfAPage }) => eventsOfAPage),
      row('write-ahead log, GB', ({ walGb }) => walGb),
      row('tables and indexes, GB', ({ tableGb }) => tableGb),
      row('of that the duplicate guard, after a year of such nights, GB', ({ guardGbAYear }) => guardGbAYear),
    ],
    notes: [
      'Cores at 60 % load, of the machine on which the costs were measured. Rates of a ledger and a receiver: never above the best that was measured.',
    ],
  };
}

/** What a file costs, and each invoice of it; history events are those of a page, and stand beside the table. */
export function costsTable(costs: Costs): Table {
  return {
    title: 'Costs',
    columns: ['what', 'a file', 'each invoice'],
    rows: MEASURES.flatMap((what) => {
      if (what === 'events') return [];
      const { start, each } = costs[what];
      return [[NAMES[what], start.toLocaleString('en'), shown(each)]];
    }),
    notes: [],
  };
}

/**
 * Predicted against measured, an invoice. How fast the machine is, the CPU of all sizes together says; everything else is predicted from the costs
 * alone.
 */
export function checkTable(sizes: readonly MeasuredSize[], costs: Costs = MEASURED_COSTS): Table {
  const speed = speedOf(sizes, costs);
  return {
    title: `Predicted and measured, an invoice; this machine takes ${speed.toFixed(2)} of the CPU`,
    columns: [
      'what',
      ...sizes.flatMap(({ invoices }) => [`${invoices.toLocaleString('en')} predicted`, 'measured', 'off by']),
    ],
    rows: MEASURES.map((what) => [
      NAMES[what],
      ...sizes.flatMap(({ invoices, use }) => {
        const predicted = useOf(costs, invoices, speed)[what] / invoices;
        const measured = use[what] / invoices;
        return [shown(predicted), shown(measured), `${(((measured - predicted) / predicted) * 100).toFixed(0)} %`];
      }),
    ]),
    notes: ['CPU: a file costs something besides its invoices, which weighs more in a small one.'],
  };
}

function speedOf(sizes: readonly MeasuredSize[], costs: Costs): number {
  const cpu = ({ loteCpuMs, temporalCpuMs, postgresCpuMs }: Use): number => loteCpuMs + temporalCpuMs + postgresCpuMs;
  const measured = sizes.reduce((sum, { use }) => sum + cpu(use), 0);
  return measured / sizes.reduce((sum, { invoices }) => sum + cpu(useOf(costs, invoices)), 0);
}

function shown(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: value < 10 ? 3 : 0 });
}
