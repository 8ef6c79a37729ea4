import type { Replay, ReplayRow, ReplaySummary } from '../../domain/ports/replay.ts';

/** What `lote profile replay` found. */
export interface ShownReplay {
  readonly directory: string;
  readonly replay: Replay;
  /** Files or parts of them that cannot be read; `place` is a JSON Pointer. */
  readonly mistakes: readonly { readonly file: string; readonly place: string; readonly message: string }[];
}

/** More lines of one kind are counted. */
const MOST_LINES = 30;
const NO_REQUEST = 'no request of the profile';

/** What `lote profile replay` says to a person: a table by operation, then each record that was not understood. */
export function replayText({ directory, replay: { rows, summary, findings }, mistakes }: ShownReplay): string {
  const missed = rows.filter(({ understood }) => understood === false);
  const understood = rows.filter((row) => row.understood === true).length;
  return [
    `${directory}: ${counted(rows.length, 'record')}, ${understood} understood`,
    '',
    ...table(summary),
    ...section('Not understood', missed.map(rowLine)),
    ...section(
      'Together',
      findings.map(({ message }) => message),
    ),
    ...section(
      'Not read',
      mistakes.map(({ file, place, message }) => `${file}${place === '' ? '' : ` at ${place}`}: ${message}`),
    ),
    '',
  ].join('\n');
}

function table(summary: readonly ReplaySummary[]): readonly string[] {
  const names = summary.map(({ operation }) => operation ?? NO_REQUEST);
  const counts = summary.map(({ understood, records }) => `${understood} of ${records}`);
  const [name, count] = [widest(names), widest(counts)];
  return summary.flatMap(({ lines }, index) =>
    (lines.length === 0 ? [''] : lines).map((line, nth) => {
      const left = nth === 0 ? [names[index] ?? '', counts[index] ?? ''] : ['', ''];
      return `${left[0]?.padEnd(name)}  ${left[1]?.padEnd(count)}  ${line}`.trimEnd();
    }),
  );
}

function section(title: string, lines: readonly string[]): readonly string[] {
  if (lines.length === 0) return [];
  const more = lines.length - MOST_LINES;
  return [
    '',
    `${title}:`,
    ...lines.slice(0, MOST_LINES).map((line) => `  ${line}`),
    ...(more > 0 ? [`  … and ${more} more`] : []),
  ];
}

function rowLine({ record, operation, says }: ReplayRow): string {
  return `${record} (${operation ?? NO_REQUEST}): ${says}`;
}

function widest(texts: readonly string[]): number {
  return Math.max(0, ...texts.map((text) => text.length));
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
