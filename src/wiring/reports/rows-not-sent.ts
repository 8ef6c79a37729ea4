import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { RowsNotSent } from '../../../activities/deps.ts';
import { mayBeSameBytes } from '../../contract/batch-id.ts';
import { LoteError } from '../../domain/errors.ts';
import type { Ledger } from '../../domain/ports/ledger/ledger.ts';
import type { SentAgain } from '../../domain/ports/ledger/sending-ledger.ts';
import { errorCode } from '../../file-system/error-code.ts';
import { unlessMissing } from '../../file-system/unless-missing.ts';
import { keptReports, revisionOf } from '../../report/keep-newer-report.ts';
import { inReportsFolder } from '../../report/reports-folder.ts';
import { isOwnReport } from './own-report.ts';

/**
 * What a report says of invoices of which the service has nothing: no POST was made for them, or it was refused. A refused one may have been corrected, and
 * the service, asked again, may accept what it refused. Every other one, whatever its state, counts once the service may have forgotten its key: sent
 * again, it would be a second document. A failed one, which may have been corrected, counts at once where its failure would be sent again with a new key.
 */
const NOT_SENT: ReadonlySet<string> = new Set(['held', 'conflict', 'rejected']);

/** Reports of batches that are sent at the same time. */
const REMEMBERED = 16;

const Report = z.object({
  batch: z.object({
    sha256: z.string().optional(),
    application: z.string().optional(),
    writtenAt: z.iso.datetime(),
    ledger: z.string().optional(),
    account: z.string().nullable().optional(),
  }),
  invoices: z.array(
    z.object({
      state: z.string(),
      rows: z.array(z.number()),
      generation: z.number().optional(),
      sentAt: z.iso.datetime().nullable().optional(),
      reason: z.object({ code: z.string() }).nullish(),
    }),
  ),
});

/** Where reports stand, and who asks what they say. */
export interface LostReportParts {
  readonly reportsDir: string;
  readonly ledger: Pick<Ledger, 'id' | 'findBatch'>;
  /** As the marks of sending name it. Null: the built-in sandbox, whose documents go with the ledger. */
  readonly account: string | null;
  /** For so long after its first POST a key may be used again, by whoever asks now and sends then. */
  readonly retentionMs: number;
  /** Codes of failures that the retry policy of the service profile sends again. */
  readonly retriedCodes: readonly string[];
  /** How late it is, at least, for a key that was first used at `since`: a clock that is set back makes it no younger. */
  readonly latestNow: (since: number) => number;
}

/** An invoice that the service may have; its key brings the same document for as long as the service knows it. */
interface SentInvoice {
  readonly row: number;
  /** Of its failure; null: it has not failed, or the report has none. */
  readonly failure: string | null;
  /** When that key was used first; null: that is not known. */
  readonly sentAt: number | null;
}

interface LostReport extends Omit<RowsNotSent, 'folders'> {
  readonly sha256: string | undefined;
  readonly application: string | undefined;
  readonly sent: readonly SentInvoice[];
  readonly ledger: string | undefined;
  readonly account: string | null | undefined;
}

/** Beside the folder of its batch, which is not the one asked about where the file has another name. */
type FoundReport = LostReport & { readonly folder: string };

/**
 * What was not sent, or so long ago that its key may be forgotten, by reports that the ledger does not know, because it was restored from an older copy:
 * they are in place with a revision that it has not given out, or were kept when another report, as reconciliation writes it, took their place. A file that is
 * dropped again under another name, such as the one that its archive gave it, is the same file. Reports of another ledger for another account do not count: a
 * file may be tried at a test account first.
 */
export function createLostReports({
  reportsDir,
  ledger,
  account,
  retentionMs,
  retriedCodes,
  latestNow,
}: LostReportParts) {
  // Each slice of a batch asks, and a report may be large.
  const remembered = new Map<string, LostReport>();

  async function inPlace(batchId: string): Promise<readonly string[]> {
    const json = join(reportsDir, batchId, 'report.json');
    const found = await revisionOf(json);
    if (found === null) return [];
    // Read after the file: a report that was put in place meanwhile has a revision that the ledger gave out before.
    const revision = (await ledger.findBatch(batchId))?.revision ?? 0;
    // One that this ledger wrote is written again.
    if (found === 'unreadable') return revision === 0 ? [json] : [];
    return found > revision ? [json] : [];
  }

  async function read(json: string): Promise<LostReport> {
    const { mtimeMs, size } = await stat(json);
    const key = `${json} ${mtimeMs} ${size}`;
    const known = remembered.get(key);
    if (known !== undefined) return known;
    const report = await readReport(json);
    if (remembered.size >= REMEMBERED) remembered.clear();
    remembered.set(key, report);
    return report;
  }

  async function reportsOf(batchId: string): Promise<readonly FoundReport[]> {
    const paths = [...(await keptReports(join(reportsDir, batchId))), ...(await inPlace(batchId))];
    return Promise.all(paths.map(async (json) => ({ ...(await read(json)), folder: batchId })));
  }

  /** Ids of batches tell the beginning of a hash only; the reports tell all of it. */
  async function underOtherNames(batchId: string): Promise<readonly FoundReport[]> {
    const names = (await unlessMissing(readdir(reportsDir))) ?? [];
    const others = names.filter((name) => name !== batchId && mayBeSameBytes(name, batchId));
    const batch = others.length === 0 ? null : await ledger.findBatch(batchId);
    if (batch === null) return [];
    const reports = await Promise.all(others.map(reportsOf));
    const { sha256, application } = batch;
    return reports.flat().filter((report) => report.sha256 === sha256 && report.application === application);
  }

  async function rowsOf(batchId: string): Promise<RowsNotSent> {
    const reports = [...(await reportsOf(batchId)), ...(await underOtherNames(batchId))];
    const own = reports.filter((report) => isOwnReport(report, { ledger, account }));
    const isForgotten = ({ sentAt }: SentInvoice) => sentAt === null || latestNow(sentAt) - sentAt >= retentionMs;
    // The policy did not send it again then: its batch had ended, and the file may have been corrected.
    const isRetried = ({ failure }: SentInvoice) => failure !== null && retriedCodes.includes(failure);
    const said = own.map(({ folder, firstRows, sent, sentAgain }) => {
      const lost = sent.filter((one) => isForgotten(one) || isRetried(one)).map(({ row }) => row);
      return { folder, firstRows: [...firstRows, ...lost], sentAgain };
    });
    const deciding = said.filter(({ firstRows, sentAgain }) => firstRows.length + sentAgain.length > 0);
    return {
      firstRows: [...new Set(deciding.flatMap(({ firstRows }) => firstRows))],
      sentAgain: deciding.flatMap(({ sentAgain }) => sentAgain),
      writtenAt: Math.max(0, ...own.map(({ writtenAt }) => writtenAt)),
      folders: [...new Set(deciding.map(({ folder }) => folder))],
    };
  }

  return async (batchId: string): Promise<RowsNotSent> =>
    account === null ? NOTHING : inReportsFolder(reportsDir, () => rowsOf(batchId));
}

const NOTHING: RowsNotSent = { firstRows: [], sentAgain: [], writtenAt: 0, folders: [] };

async function readReport(json: string): Promise<LostReport> {
  const text = await readFile(json, 'utf8').catch((error: unknown) => {
    throw unreadable(json, errorCode(error) || 'a file that cannot be read');
  });
  const { batch, invoices } = parsed(json, text);
  const notSent = invoices.filter(({ state }) => NOT_SENT.has(state));
  return {
    firstRows: notSent.flatMap(({ rows }) => rows.slice(0, 1)),
    sentAgain: invoices.flatMap(sentAgain),
    sent: invoices.filter(({ state }) => !NOT_SENT.has(state)).flatMap(sentInvoice),
    writtenAt: Date.parse(batch.writtenAt),
    ...{ sha256: batch.sha256, application: batch.application, ledger: batch.ledger, account: batch.account },
  };
}

type ReportedInvoice = z.infer<typeof Report>['invoices'][number];

/** A row that is no invoice has generation 0. */
function sentAgain({ rows, generation = 1 }: ReportedInvoice): readonly SentAgain[] {
  return generation <= 1 ? [] : rows.slice(0, 1).map((firstRow) => ({ firstRow, generation }));
}

/** Of one that failed in a later generation nobody knows when the first key was used, which the ledger may go back to. */
function sentInvoice({ state, rows, generation, sentAt, reason }: ReportedInvoice): readonly SentInvoice[] {
  const hasFailed = state === 'failed';
  const isKnown = typeof sentAt === 'string' && !(hasFailed && generation !== 1);
  const usedAt = isKnown ? Date.parse(sentAt) : null;
  const failure = hasFailed ? (reason?.code ?? null) : null;
  return rows.slice(0, 1).map((row) => ({ row, sentAt: usedAt, failure }));
}

function parsed(json: string, text: string): z.infer<typeof Report> {
  if (text.trim() === '') throw unreadable(json, 'an empty file');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw unreadable(json, `${text.length} characters that are no whole JSON document`);
  }
  const report = Report.safeParse(value);
  if (report.success) return report.data;
  const place = report.error.issues[0]?.path.map(String).join('.') ?? '';
  throw unreadable(json, `JSON of another form${place === '' ? '' : ` (${place})`}`);
}

/** It waits: nobody knows what was corrected since, or kept back on purpose. */
function unreadable(json: string, found: string): LoteError {
  return new LoteError(
    'folder-unusable',
    `Reading ${json}: the ledger has not written this report, because it was restored from an older copy or is a new one, so the report must say what was not sent, but found ${found}. Nothing of its batch is sent. ` +
      'Put the report back from a copy of the reports folder. If there is none, ask the service what it has of this batch, and move the file away: what the ledger has as unsent then goes.',
  );
}
