import { readFile } from 'node:fs/promises';
import type { Sandbox } from '../../../src/sandbox/sandbox.ts';
import type { BatchResult } from '../../../src/contract/messages.ts';
import type { BookDifferences, BookedLines } from './booked-lines.ts';
import { HELD } from './crash-matrix.ts';

/** What one file should have become, on top of what the books held before it. */
export interface ExpectedFile {
  readonly file: string;
  readonly invoices: number;
  readonly failing: number;
  /** Files of this shape that the service has seen so far, this one included. */
  readonly files: number;
}

export interface Judgement extends BookDifferences {
  readonly verdict: string;
  /** POSTs that the report counts. */
  readonly posts: number;
}

interface ReportedInvoice {
  readonly serviceId: string;
  readonly idempotencyKey: string;
  readonly state: string;
  readonly attempts: number;
}

/** Every invoice in the books once and whole; issued, or failed as the books say; and a report that says the same of each. */
export async function judge(
  { file, invoices, failing, files }: ExpectedFile,
  {
    sandbox,
    booked,
    result,
  }: { readonly sandbox: Sandbox; readonly booked: BookedLines; readonly result: BatchResult },
): Promise<Judgement> {
  const differences = await booked.differences(file);
  const { lost, double, cut } = differences;
  const books = sandbox.books();
  const report = JSON.parse(await readFile(result.reports.json, 'utf8')) as {
    readonly counts: Readonly<Record<string, number>>;
    readonly invoices: readonly ReportedInvoice[];
  };
  const issued = invoices - failing;
  const inBooks = new Map(books.invoices.map((one) => [one.idempotencyKey, `${one.id} ${one.status}`]));
  const differing = report.invoices.filter(
    ({ idempotencyKey, serviceId, state }) => inBooks.get(idempotencyKey) !== `${serviceId} ${state}`,
  );
  const { totals } = books;
  const broken = [
    lost > 0 && `${lost} invoices are not in the books`,
    double > 0 && `${double} invoices are twice in the books`,
    cut > 0 && `${cut} invoices are in the books with other lines`,
    books.duplicates.length > 0 && `the books show ${books.duplicates.length} groups of equal invoices`,
    totals.invoices !== files * invoices && `${totals.invoices} in the books instead of ${files * invoices}`,
    (totals.issued !== files * issued || totals.failed !== files * failing) &&
      `the books say ${totals.issued} issued and ${totals.failed} failed after ${files} files`,
    result.state !== 'finished' && `the batch ended as ${result.state}`,
    report.invoices.length !== invoices && `the report has ${report.invoices.length} invoices`,
    (report.counts['issued'] !== issued || report.counts['failed'] !== failing) &&
      `the report counts ${JSON.stringify(report.counts)}`,
    differing.length > 0 && `the report differs from the books in ${differing.length} invoices`,
  ];
  const verdict = broken.find((rule) => rule !== false) ?? HELD;
  return { lost, double, cut, verdict, posts: report.invoices.reduce((sum, { attempts }) => sum + attempts, 0) };
}

/** A batch without a report is judged by the books alone. */
export async function unfinished(
  { booked }: { readonly booked: BookedLines },
  { file }: ExpectedFile,
  verdict: string,
): Promise<Judgement> {
  return { ...(await booked.differences(file)), verdict, posts: 0 };
}
