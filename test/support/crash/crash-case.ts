import { readFile } from 'node:fs/promises';
import { simulatedEngine, type Engine } from '../../../src/sandbox/engine.ts';

/** Who is struck: the process that comes to the point, or a server it depends on while it stands still there. */
export type Victim = 'itself' | 'database' | 'temporal';

export interface CrashCase {
  /** The process that comes to the point. */
  readonly part: 'worker' | 'receiver';
  /** `<point>[:<which time>]` */
  readonly point: string;
  readonly victim: Victim;
  /** For so long the victim is away: `itself` is stopped (SIGSTOP) and then goes on. Left out: killed, and started again at once. */
  readonly awayMs?: number;
  /** It is told to end (SIGTERM) while it stands still, hears of that when it goes on, and another one of its kind is started after its end. Left out: false. */
  readonly isToldToEnd?: boolean;
  /** A second worker joins when the part has come to the point. Default 1. */
  readonly workers?: 1 | 2;
}

export interface CrashEnd extends MatrixRow {
  readonly posts: number;
  /** Of the whole case. */
  readonly seconds: number;
}

/** Whether the part only stands still at its point, while something is done to it or to a server. */
export function standsStill({ victim, awayMs }: CrashCase): boolean {
  return victim !== 'itself' || awayMs !== undefined;
}

/** As `CRASH_AT` takes it. */
export function crashAtOf(crash: CrashCase): string {
  return standsStill(crash) ? `stop@${crash.point}` : crash.point;
}

/** "worker stopped for 70 s", "database killed": the first column of the matrix. */
export function faultOf(crash: CrashCase): string {
  return crash.isToldToEnd === true ? `${blowOf(crash)} and told to end` : blowOf(crash);
}

function blowOf({ part, victim, awayMs }: CrashCase): string {
  const who = victim === 'itself' ? part : victim;
  if (awayMs === undefined) return `${who} killed`;
  return `${who} ${victim === 'itself' ? 'stopped' : 'away'} for ${awayMs / 1000} s`;
}

/** One case of the crash matrix and how it ended. */
export interface MatrixRow extends BookDifferences {
  /** What was done to which part: "worker killed", "receiver stopped for 70 s". */
  readonly fault: string;
  /** The named step at which it was done. */
  readonly step: string;
  readonly workers: number;
  readonly invoices: number;
  /** From the return of the part to the end of the batch, in seconds: nothing waited longer. */
  readonly longestWait: number;
  /** `held`, or the first rule that was broken. */
  readonly verdict: string;
}

export const HELD = 'held';

/** The matrix as a table of text, for whoever reads the log of `npm run test:chaos`. */
export function matrixText(rows: readonly MatrixRow[]): string {
  const head = ['fault', 'step', 'workers', 'invoices', 'lost', 'double', 'cut', 'longest wait', 'verdict'];
  const lines = rows.map((row) => [
    ...[row.fault, row.step, row.workers, row.invoices, row.lost, row.double, row.cut].map(String),
    `${row.longestWait} s`,
    row.verdict,
  ]);
  const widths = head.map((_, column) => Math.max(...[head, ...lines].map((line) => line[column]?.length ?? 0)));
  const text = [head, ...lines].map((line) => line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '));
  const held = rows.filter(({ verdict }) => verdict === HELD).length;
  return [...text.map((line) => line.trimEnd()), `${held} of ${rows.length} cases held`].join('\n');
}

/** How the books of the service differ from a file, counted in invoices. */
export interface BookDifferences {
  /** In the file, not in the books. */
  readonly lost: number;
  /** In the books more than once. */
  readonly double: number;
  /** In the books with other lines than in the file. */
  readonly cut: number;
}

/** Every line that the service was asked to issue, kept beside its books. */
export interface BookedLines {
  /** The simulated engine, which sees the content of each created invoice. */
  readonly engine: Engine;
  /** Compares the file with the books, line by line. The file must be one of `writeInvoiceFile`: plain cells, a customer per invoice. */
  differences(file: string): Promise<BookDifferences>;
}

/** An invoice in one text: its lines in the order of the file. */
type Content = readonly string[];

const INVOICE_OF_LINE = /^(?<invoice>\S+ \S+)/;

export function bookedLines(settleMs: number): BookedLines {
  const simulated = simulatedEngine({ settleMs });
  const created = new Map<string, Content>();
  return {
    engine: {
      process(invoice) {
        const lines = invoice.body.lines.map((line) =>
          lineText(line.description, line.quantity, line.unit_price, line.tax_code),
        );
        created.set(invoice.id, lines);
        return simulated.process(invoice);
      },
    },
    async differences(file) {
      const expected = await contentOf(file);
      const booked = groupedBy(created.values(), nameOf);
      const found = { lost: 0, double: 0, cut: 0 };
      for (const [name, lines] of expected) {
        const documents = booked.get(name) ?? [];
        if (documents.length === 0) found.lost += 1;
        if (documents.length > 1) found.double += 1;
        if (documents.some((document) => document.join('\n') !== lines.join('\n'))) found.cut += 1;
      }
      return found;
    },
  };
}

/** The lines of each invoice of a file, by the invoice's name. */
async function contentOf(file: string): Promise<ReadonlyMap<string, Content>> {
  const [, ...rows] = (await readFile(file, 'utf8')).trimEnd().split('\n');
  const lines = rows.map((row) => {
    const [description = '', quantity, unitPrice, taxCode = ''] = row.split(',').slice(7);
    return lineText(description, Number(quantity), Number(unitPrice), taxCode);
  });
  return groupedBy(lines, (line) => nameOf([line]));
}

function lineText(...cells: readonly (string | number)[]): string {
  return cells.join('|');
}

/** "Artigo C1/7" of "Artigo C1/7 linha 2": the same in each line of one invoice. */
function nameOf([line = '']: Content): string {
  return INVOICE_OF_LINE.exec(line)?.groups?.['invoice'] ?? line;
}

function groupedBy<Item>(items: Iterable<Item>, keyOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return groups;
}
