import { readFile } from 'node:fs/promises';
import { simulatedEngine, type Engine } from '../../../src/sandbox/engine.ts';
import type { Sandbox } from '../../../src/sandbox/sandbox.ts';

/** The victim: the process that reaches the point, or a server that it needs while it is stopped there. */
export type Victim = 'itself' | 'database' | 'temporal';

export interface CrashCase {
  /** The process that reaches the point. */
  readonly part: 'worker' | 'receiver';
  /** `<point>[:<count>]`: the crash happens at this visit of the point. */
  readonly point: string;
  readonly victim: Victim;
  /** How long the victim is away; `itself` is stopped (SIGSTOP). Default: killed, and started again at once. */
  readonly awayMs?: number;
  /** The stopped part gets a SIGTERM, continues, ends, and a new process replaces it. Default false. */
  readonly isToldToEnd?: boolean;
  /** With 2, a second worker joins when the part has reached the point. Default 1. */
  readonly workers?: 1 | 2;
}

export interface CrashEnd extends MatrixRow {
  readonly posts: number;
  /** Duration of the whole case. */
  readonly seconds: number;
}

/** Tells whether the part only stops at its point, while the test strikes it or a server. */
export function standsStill({ victim, awayMs }: CrashCase): boolean {
  return victim !== 'itself' || awayMs !== undefined;
}

/** Returns the value of `CRASH_AT` for a case. */
export function crashAtOf(crash: CrashCase): string {
  return standsStill(crash) ? `stop@${crash.point}` : crash.point;
}

/** Returns the first column of the matrix, for example "worker stopped for 70 s" or "database killed". */
export function faultOf(crash: CrashCase): string {
  return crash.isToldToEnd === true ? `${blowOf(crash)} and told to end` : blowOf(crash);
}

function blowOf({ part, victim, awayMs }: CrashCase): string {
  const who = victim === 'itself' ? part : victim;
  if (awayMs === undefined) return `${who} killed`;
  return `${who} ${victim === 'itself' ? 'stopped' : 'away'} for ${awayMs / 1000} s`;
}

/** One case of the crash matrix and its result. */
export interface MatrixRow extends BookDifferences {
  /** The fault, for example "worker killed" or "receiver stopped for 70 s". */
  readonly fault: string;
  /** The named step at which the fault happened. */
  readonly step: string;
  readonly workers: number;
  readonly invoices: number;
  /** From the return of the part to the end of the batch, in seconds: no invoice waited longer. */
  readonly longestWait: number;
  /** `held`, or the first rule that was broken. */
  readonly verdict: string;
}

export const HELD = 'held';

/** The differences between the books of the service and a file, in invoices. */
export interface BookDifferences {
  /** Invoices in the file, but not in the books. */
  readonly lost: number;
  /** Invoices that are in the books more than once. */
  readonly double: number;
  /** Invoices in the books with other lines than in the file. */
  readonly cut: number;
}

/** All lines that Lote asked the service to issue, kept beside the service's books. */
export interface BookedLines {
  /** The simulated engine, which sees the content of each created invoice. */
  readonly engine: Engine;
  /** Compares a file of `writeInvoiceFile` (plain cells, a customer for each invoice) with the books, line by line. */
  differences(file: string): Promise<BookDifferences>;
}

/** The content of an invoice: its lines in the order of the file. */
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

/** Reads the lines of each invoice of a file, by the invoice's name. */
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

/** Returns "Artigo C1/7" for "Artigo C1/7 linha 2": all lines of one invoice begin so. */
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

/** The expected result of one file, in addition to the earlier content of the books. */
interface ExpectedFile {
  readonly file: string;
  readonly invoices: number;
  readonly failing: number;
  /** Files of this shape that the service has received, including this one. */
  readonly files: number;
}

/** The end of a batch, as its workflow or a command says it. */
interface BatchEnd {
  readonly state: string;
  readonly counts: Readonly<Partial<Record<string, number>>>;
  readonly reports: { readonly json: string };
}

export interface Judgement extends BookDifferences {
  /** `held`, or the first rule that was broken. */
  readonly verdict: string;
  /** Number of POSTs in the report. */
  readonly posts: number;
}

interface Report {
  readonly counts: BatchEnd['counts'];
  readonly invoices: readonly {
    readonly serviceId: string;
    readonly idempotencyKey: string;
    readonly state: string;
    readonly attempts: number;
  }[];
}

/**
 * Judges a file: each invoice is in the books once and whole, and the report agrees with the books on each state. `end` is a
 * text if the batch has not ended.
 */
export async function judge(
  { file, invoices, failing, files }: ExpectedFile,
  { sandbox, booked }: { readonly sandbox: Sandbox; readonly booked: BookedLines },
  end: BatchEnd | string,
): Promise<Judgement> {
  const differences = await booked.differences(file);
  if (typeof end === 'string') return { ...differences, verdict: end, posts: 0 };
  const { lost, double, cut } = differences;
  const { totals, duplicates, invoices: documents } = sandbox.books();
  const report = JSON.parse(await readFile(end.reports.json, 'utf8')) as Report;
  const issued = invoices - failing;
  const inBooks = new Map(documents.map((one) => [one.idempotencyKey, `${one.id} ${one.status}`]));
  const agreeing = report.invoices.filter(
    ({ idempotencyKey, serviceId, state }) => inBooks.get(idempotencyKey) === `${serviceId} ${state}`,
  );
  const differing = invoices - new Set(agreeing.map(({ idempotencyKey }) => idempotencyKey)).size;
  const wrongCounts = [report.counts, end.counts].find(
    (counts) => counts['invoices'] !== invoices || counts['issued'] !== issued || counts['failed'] !== failing,
  );
  const broken = [
    lost > 0 && `${lost} invoices are not in the books`,
    double > 0 && `${double} invoices are twice in the books`,
    cut > 0 && `${cut} invoices are in the books with other lines`,
    duplicates.length > 0 && `the books show ${duplicates.length} groups of equal invoices`,
    totals.invoices !== files * invoices && `${totals.invoices} in the books instead of ${files * invoices}`,
    (totals.issued !== files * issued || totals.failed !== files * failing) &&
      `the books say ${totals.issued} issued and ${totals.failed} failed after ${files} files`,
    end.state !== 'finished' && `the batch ended as ${end.state}`,
    report.invoices.length !== invoices && `the report has ${report.invoices.length} invoices`,
    wrongCounts !== undefined && `the batch counts ${JSON.stringify(wrongCounts)}`,
    differing > 0 && `the report differs from the books in ${differing} invoices`,
  ];
  const verdict = broken.find((rule) => rule !== false) ?? HELD;
  return { ...differences, verdict, posts: report.invoices.reduce((sum, { attempts }) => sum + attempts, 0) };
}
