import { readFile } from 'node:fs/promises';
import type { Client } from '@temporalio/client';
import { tsToMs } from '@temporalio/common/lib/time.js';
import type { Table } from '../print-table.ts';

/** One span of a batch, from the histories of its workflows or the times of its invoices. Milliseconds since the batch began. */
export interface Span {
  readonly what: string;
  readonly from: number;
  readonly to: number;
  /** Of an activity: how long it waited for a worker before that. */
  readonly waited: number | null;
}

type History = Awaited<ReturnType<ReturnType<Client['workflow']['getHandle']>['fetchHistory']>>;
type Event = NonNullable<History['events']>[number];

/** Where the time of a finished batch went: its activities and those of its pages, its POSTs and its final words. */
export async function timelineOf(client: Client, batchId: string, reportJson: string): Promise<readonly Span[]> {
  const spans: Span[] = [];
  let began = Infinity;
  for await (const run of client.workflow.list({ query: `WorkflowId STARTS_WITH "${batchId}"` })) {
    const { events } = await client.workflow.getHandle(run.workflowId, run.runId).fetchHistory();
    const name = run.workflowId === batchId ? 'batch' : run.workflowId.slice(batchId.length + 1);
    began = Math.min(began, timeOf(events?.[0]));
    spans.push(...spansOf(name, events ?? []));
  }
  return [...spans, ...(await invoiceSpans(reportJson))]
    .map(({ what, from, to, waited }) => ({ what, from: from - began, to: to - began, waited }))
    .toSorted((a, b) => a.from - b.from || a.to - b.to);
}

/** One line a span. */
export function timelineTable(spans: readonly Span[]): Table {
  const ms = (time: number | null): string => (time === null ? '' : Math.round(time).toLocaleString('en'));
  return {
    title: 'Where the time went, ms since the batch began',
    columns: ['what', 'from', 'to', 'took', 'waited for a worker'],
    rows: spans.map(({ what, from, to, waited }) => [what, ms(from), ms(to), ms(to - from), ms(waited)]),
    notes: ['By the clock of the Temporal server for workflows and activities, by that of Lote for invoices.'],
  };
}

function spansOf(name: string, events: readonly Event[]): readonly Span[] {
  const byId = new Map(events.map((event) => [String(event.eventId), event]));
  const activities = events.flatMap((event): Span[] => {
    const closed = event.activityTaskCompletedEventAttributes;
    if (!closed) return [];
    const scheduled = byId.get(String(closed.scheduledEventId));
    const started = byId.get(String(closed.startedEventId));
    const activity = scheduled?.activityTaskScheduledEventAttributes?.activityType?.name ?? '';
    const from = timeOf(started);
    return [{ what: `${name}: ${activity}`, from, to: timeOf(event), waited: from - timeOf(scheduled) }];
  });
  const signals = events.flatMap((event): Span[] => {
    const signal = event.workflowExecutionSignaledEventAttributes?.signalName;
    const at = timeOf(event);
    return signal ? [{ what: `${name}: signal ${signal}`, from: at, to: at, waited: null }] : [];
  });
  const whole = { from: timeOf(events[0]), to: timeOf(events.at(-1)), waited: null };
  return [{ what: `${name}: all, ${events.length} events`, ...whole }, ...activities, ...signals];
}

async function invoiceSpans(reportJson: string): Promise<readonly Span[]> {
  const { invoices } = JSON.parse(await readFile(reportJson, 'utf8')) as {
    invoices: { sentAt: string | null; settledAt: string | null }[];
  };
  const spanOf = (what: string, times: readonly (string | null)[]): Span => {
    const known = times.flatMap((time) => (time === null ? [] : [Date.parse(time)]));
    const least = known.reduce((a, b) => Math.min(a, b), Infinity);
    return { what, from: least, to: known.reduce((a, b) => Math.max(a, b), -Infinity), waited: null };
  };
  return [
    spanOf(
      'first POST to last',
      invoices.map(({ sentAt }) => sentAt),
    ),
    spanOf(
      'first final word to last',
      invoices.map(({ settledAt }) => settledAt),
    ),
  ];
}

function timeOf(event: Event | undefined): number {
  return tsToMs(event?.eventTime);
}
