import type { ReplayRow, ReplaySummary } from '../../domain/ports/replay.ts';

/** In the order in which an invoice meets them; null: what belongs to no request. */
const ORDER = [
  'list-merchants',
  'create-merchant',
  'create-invoice',
  'get-invoice',
  'register-webhook',
  'delivery',
  null,
] as const;

/** How many sentences one operation may have. */
const MOST_LINES = 10;

/** Rows by operation: how many were understood, and which sentences occur how often. */
export function summaryOf(rows: readonly ReplayRow[]): readonly ReplaySummary[] {
  return ORDER.flatMap((operation) => {
    const own = rows.filter((row) => row.operation === operation);
    if (own.length === 0) return [];
    return [
      {
        operation,
        records: own.length,
        understood: own.filter(({ understood }) => understood === true).length,
        lines: [...linesOf(own, false), ...linesOf(own, null), ...linesOf(own, true)].slice(0, MOST_LINES),
      },
    ];
  });
}

/** The same sentence about several invoices counts as one. */
function linesOf(rows: readonly ReplayRow[], understood: boolean | null): readonly string[] {
  const times = new Map<string, number>();
  for (const row of rows.filter((one) => one.understood === understood)) {
    const sentence = withoutIds(row);
    times.set(sentence, (times.get(sentence) ?? 0) + 1);
  }
  return [...times].toSorted(([, one], [, other]) => other - one).map(([sentence, count]) => `${count} × ${sentence}`);
}

const ID_SETTINGS = new Set(['invoice.id', 'merchants.createdId', 'event.invoiceId']);

function withoutIds({ says, places }: ReplayRow): string {
  let sentence = says;
  for (const { setting, value } of places)
    if (ID_SETTINGS.has(setting) && value !== null) sentence = sentence.replaceAll(value, '…');
  return sentence;
}
