import { LoteError } from '../domain/errors.ts';
import { durationCounter } from '../domain/time/duration-histogram.ts';
import type { Finding } from '../domain/invoice.ts';
import { isWholeFile, lostRows } from '../domain/row.ts';
import { everyCountByOutcome, issuedCount, currencyTotals } from '../domain/outcome-counts.ts';
import type { ProfileMisfit } from '../domain/profile-misfit.ts';
import { checkBalance, createOutcomeTally, sameCounts } from './check-balance.ts';
import { isoTime } from '../domain/time/instants.ts';
import {
  NO_HISTORY,
  type ReportHistory,
  type ReportNote,
  type ReportBatch,
  type ReportCounts,
  type ReportModel,
  type ReportOrigin,
  type ReasonGroup,
  isContradicted,
  reasonOf,
} from './report-model.ts';
import {
  type BatchInvoice,
  type BatchRecord,
  MOST_CONTRADICTED,
  type OutcomeCount,
} from '../domain/records/batch-record.ts';

/** What a report says beside the ledger's outcome. */
export interface ReportFacts {
  readonly notes?: readonly ReportNote[];
  readonly misfits?: readonly ProfileMisfit[];
  readonly history?: ReportHistory;
  readonly origin?: ReportOrigin;
  readonly now: number;
}

interface ReportSource extends ReportFacts {
  readonly batch: BatchRecord;
  readonly counts: () => Promise<readonly OutcomeCount[]>;
  readonly invoices: AsyncIterable<readonly BatchInvoice[]>;
  readonly findings: readonly Finding[];
  readonly revision: number;
}

/** Builds the report without its list of invoices, in constant memory. @throws LoteError `report-unbalanced` */
export async function buildReport(source: ReportSource): Promise<ReportModel> {
  const { batch, notes = [], misfits = [], history = NO_HISTORY } = source;
  const counting = source.counts();
  counting.catch(() => undefined);
  const { read, own, rowsRead, reasons, contradicted, ownSettling } = await readInvoices(source);
  // A refused file has no invoices, so none of its rows belongs to an invoice.
  const rowsWithoutInvoice = batch.state === 'refused' ? batch.rows : batch.rowsWithoutInvoice;
  const counted = await counting;
  const sheet = { batch, counted, read, rowsRead, rowsWithoutInvoice };
  // Late news can move invoices of a closed batch too. A second count shows that invoices moved during the reading.
  const isMoving = !sameCounts(counted, read) && !sameCounts(counted, await source.counts());
  checkBalance({ ...sheet, isMoving });
  const rowsLost = lostRows(rowsWithoutInvoice, source.findings);
  const counts = {
    ...{ rows: batch.rows, rowsWithoutInvoice, rowsLost, invoices: batch.invoices, ...everyCountByOutcome(read) },
    ...(contradicted.invoices > 0 && { contradicted: contradicted.invoices }),
  };
  return {
    batch: reportBatch(source),
    counts,
    outcomes: read,
    totals: currencyTotals(read),
    reasons,
    ...{ ownSettling, ownOutcomes: own },
    contradicted,
    fileFindings: source.findings,
    ...{ notes, history },
    misfits: misfits.map(({ firstAt, lastAt, ...misfit }) => ({
      ...misfit,
      ...{ firstAt: isoTime(firstAt), lastAt: isoTime(lastAt) },
    })),
    everythingIssued: isEverythingIssued(counts, source.findings),
  };
}

async function readInvoices({ batch, invoices }: ReportSource) {
  const tally = createOutcomeTally();
  const ownTally = createOutcomeTally();
  const reasons = createReasonGroups();
  const refs: string[] = [];
  const rowsRead = new Set<number>();
  const ownSettling = durationCounter();
  let inDoubt = 0;
  for await (const portion of invoices) {
    tally.add(portion);
    ownTally.add(portion.map(asOwned));
    for (const invoice of portion) {
      reasons.add(invoice);
      if (isContradicted(invoice)) {
        inDoubt += 1;
        if (refs.length < MOST_CONTRADICTED) refs.push(invoice.ref);
      }
      if (isSettled(invoice)) ownSettling.add(invoice.settledAt - invoice.sentAt);
      for (const row of invoice.rows) {
        if (rowsRead.has(row)) throw rowTwice(batch, row);
        rowsRead.add(row);
      }
    }
  }
  return {
    ...{ read: tally.counts(), own: ownTally.counts(), rowsRead: rowsRead.size, reasons: reasons.list() },
    ...{ ownSettling: ownSettling.histogram(), contradicted: { invoices: inDoubt, refs } },
  };
}

/** The report shows the present state, but a sum over batches must count the document of an invoice in only one of them. */
function asOwned(invoice: BatchInvoice): BatchInvoice {
  return invoice.issuedElsewhere === true ? { ...invoice, state: 'already-issued' } : invoice;
}

/** True if the service settled the invoice in this batch; invoices that an earlier file issued do not count for this night. */
function isSettled(
  invoice: BatchInvoice,
): invoice is BatchInvoice & { readonly sentAt: number; readonly settledAt: number } {
  const { state, sentAt, settledAt, issuedElsewhere } = invoice;
  const isOwn = (state === 'issued' || state === 'failed') && issuedElsewhere !== true;
  return isOwn && sentAt !== null && settledAt !== null;
}

function rowTwice(batch: BatchRecord, row: number): LoteError {
  const message = `Building the report of batch ${batch.batchId}: a row must belong to one invoice, found row ${row} in two.`;
  return new LoteError('report-unbalanced', message);
}

function reportBatch({ batch, revision, origin, now }: ReportSource): ReportBatch {
  if (batch.state === 'staging') {
    // The file was refused and dropped again, so this state passes.
    throw new LoteError(
      'report-superseded',
      `Building the report of batch ${batch.batchId}: its file must be read to the end, found it still being read. Wait for it, then ask again.`,
    );
  }
  return {
    id: batch.batchId,
    file: batch.file,
    sha256: batch.sha256,
    application: batch.application,
    state: batch.state,
    startedAt: isoTime(batch.startedAt),
    finishedAt: isoTime(batch.finishedAt),
    writtenAt: isoTime(now),
    revision,
    ...origin,
    proof: batch.proof,
  };
}

function isEverythingIssued(counts: ReportCounts, findings: readonly Finding[]): boolean {
  const issued = issuedCount(counts);
  const isWhole = isWholeFile(counts.rowsLost, findings);
  return issued > 0 && issued === counts.invoices && isWhole && counts.contradicted === undefined;
}

/** Enough examples to recognise the pattern in the file; the list of invoices has all of them. */
const EXAMPLES = 5;
/** Codes come from the service: if it puts a number into each code, the report's memory must not grow with the file. */
const MOST_GROUPS = 200;
const OTHER = { code: 'other-reasons', message: 'Reasons beyond the first 200; each stands with its invoice.' };

interface OpenGroup {
  readonly state: ReasonGroup['state'];
  readonly code: string;
  readonly message: string;
  invoices: number;
  readonly examples: { readonly ref: string; readonly rows: readonly number[] }[];
}

/** Groups invoices by state and reason code, with five examples. Beyond 200 groups, a state has one group `other-reasons`. */
function createReasonGroups() {
  const groups = new Map<string, OpenGroup>();
  return {
    add(invoice: BatchInvoice): void {
      const reason = reasonOf(invoice);
      if (reason === null) return;
      const { state, ref, rows } = invoice;
      const hasRoom = groups.size < MOST_GROUPS || groups.has(`${state} ${reason.code}`);
      const { code, message } = hasRoom ? reason : OTHER;
      const group = groups.get(`${state} ${code}`) ?? { state, code, message, invoices: 0, examples: [] };
      groups.set(`${state} ${code}`, group);
      group.invoices += 1;
      if (group.examples.length < EXAMPLES) group.examples.push({ ref, rows });
    },
    /** Returns the largest group first and equal groups by state and code, so that two runs give the same report. */
    list: (): readonly ReasonGroup[] =>
      [...groups.values()].sort(
        (a, b) => b.invoices - a.invoices || compareText(a.state, b.state) || compareText(a.code, b.code),
      ),
  };
}

/** Does not use localeCompare, because the order must not depend on the machine. */
function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
