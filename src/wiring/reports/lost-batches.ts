import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Ledger } from '../../domain/ports/ledger/ledger.ts';
import { eachOf } from '../../concurrency/each-of.ts';
import { isBatchId } from '../../contract/batch-id.ts';
import { errorCode } from '../../file-system/error-code.ts';
import { unlessMissing } from '../../file-system/unless-missing.ts';
import { keptReports } from '../../report/keep-newer-report.ts';
import { reportHead } from '../../report/formats/report-head.ts';
import { inReportsFolder } from '../../report/reports-folder.ts';
import { isOwnReport } from './own-report.ts';

const FIELD = /^ {4}"(?<name>id|file|sha256|application|state|ledger|account)": (?<value>null|"(?:[^"\\]|\\.)*")/gmu;
const AT_ONCE = 16;
/** Files of any kind lie in the folder, too. */
const NOTHING_THERE = ['ENOENT', 'ENOTDIR'];
/** Marks of sending have the time of a worker, reports that of the file server. */
const FILE_CLOCK_DIFFERS_MS = 3_600_000;

/** A batch that a report tells of and the ledger does not know. */
export interface LostBatch {
  readonly batchId: string;
  /** Name of its file. */
  readonly file: string;
}

/** A folder of a batch that cannot be read: nobody knows what its reports tell. */
export interface UnreadFolder {
  readonly name: string;
  /** Of the operating system, such as `EACCES`. */
  readonly code: string;
}

/** What the reports folder tells that the ledger does not know, each in the order of names. */
export interface LostBatches {
  readonly lost: readonly LostBatch[];
  readonly unread: readonly UnreadFolder[];
}

interface ReportedBatch extends LostBatch {
  readonly sha256: string;
}

/** Where reports stand, and what they are compared with. */
export interface LostBatchesParts {
  readonly reportsDir: string;
  readonly ledger: Pick<Ledger, 'id' | 'batchOfFile'>;
  readonly application: string;
  /** As the marks of sending name it. */
  readonly account: string;
  /** Reports that were written an hour before this time (epoch milliseconds), or earlier, are not looked at. */
  readonly since: number;
}

/**
 * Batches of this application that may have sent something and that the ledger does not know, because it was restored from an older copy: by a report of this
 * ledger, of this account, or of neither. A refused file has sent nothing. Reads no more than the head of each report. What cannot be read and has no name
 * of a batch, such as `lost+found` of a disk, is not Lote's.
 * @throws LoteError `folder-unusable` where the reports folder itself cannot be read
 */
export async function lostBatches(parts: LostBatchesParts): Promise<LostBatches> {
  const { reportsDir, ledger } = parts;
  const names = await inReportsFolder(reportsDir, () => unlessMissing(readdir(reportsDir), NOTHING_THERE));
  const lost: LostBatch[] = [];
  const unread: UnreadFolder[] = [];
  await eachOf(names ?? [], AT_ONCE, async (name) => {
    const found = await orCode(reportedIn(join(reportsDir, name), parts));
    if (typeof found === 'string') {
      if (isBatchId(name)) unread.push({ name, code: found });
      return;
    }
    const [batch] = found;
    if (batch === undefined) return;
    // By its bytes: a file that was run again may have another name than before.
    const known = await ledger.batchOfFile(parts.application, batch.sha256);
    if (known === null || known.state === 'refused') lost.push({ batchId: batch.batchId, file: batch.file });
  });
  return {
    lost: lost.toSorted((a, b) => (a.batchId < b.batchId ? -1 : 1)),
    unread: unread.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
  };
}

/** The code of the operating system in place of what it has not given. Any other error is thrown. */
async function orCode<T>(read: Promise<T>): Promise<T | string> {
  return read.catch((error: unknown) => {
    const code = errorCode(error);
    if (code === '') throw error;
    return code;
  });
}

/** What reports of a folder tell of the batch: also one that was kept when a later run of the file, as one that was refused, took its place. */
async function reportedIn(directory: string, parts: LostBatchesParts): Promise<readonly ReportedBatch[]> {
  const paths = [
    join(directory, 'report.json'),
    ...((await unlessMissing(keptReports(directory), NOTHING_THERE)) ?? []),
  ];
  const heads = await Promise.all(paths.map((json) => headSince(json, parts.since)));
  return heads.flatMap((head) => (head === null ? [] : (batchOf(head, parts) ?? [])));
}

/** Null: no report, or an older one. */
async function headSince(json: string, since: number): Promise<string | null> {
  const found = await unlessMissing(stat(json), NOTHING_THERE);
  if (found === null || found.mtimeMs < since - FILE_CLOCK_DIFFERS_MS) return null;
  return reportHead(json, NOTHING_THERE);
}

/** Null: it is of somebody else, or has sent nothing. */
function batchOf(head: string, parts: LostBatchesParts): ReportedBatch | null {
  const said = new Map<string, string | null>();
  for (const { groups } of head.matchAll(FIELD)) {
    const { name = '', value = 'null' } = groups ?? {};
    if (!said.has(name)) said.set(name, JSON.parse(value) as string | null);
  }
  const batchId = said.get('id');
  if (typeof batchId !== 'string' || said.get('application') !== parts.application || said.get('state') === 'refused')
    return null;
  return isOwnReport({ ledger: said.get('ledger'), account: said.get('account') }, parts)
    ? { batchId, file: said.get('file') ?? '', sha256: said.get('sha256') ?? '' }
    : null;
}
