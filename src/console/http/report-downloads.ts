import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { BatchRecord } from '../../domain/ports/ledger/batch-record.ts';
import type { ConsoleOptions } from '../console-options.ts';
import { namesIn } from '../missing-file.ts';

const PLAIN_NAME = /^\w[\w.-]*$/u;
const REPORT_FILE = /^(?:report\.[a-z0-9]+|corrections[\w-]*\.[a-z0-9]+)$/u;

/** The only one that is a page; whatever else a folder holds is saved. */
const SHOWN = 'report.html';

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  json: 'application/json',
  // No charset: corrections have the encoding of the file they came from.
  csv: 'text/csv',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
};

/** A report holds texts of files and of the service: whatever they are, nothing in it runs or loads. */
const REPORT_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Where the reports of a batch's application are: of several, each has a folder of its name. */
export function reportsDirOf(
  { reportsDir, applications }: Pick<ConsoleOptions, 'reportsDir' | 'applications'>,
  { application }: Pick<BatchRecord, 'application'>,
): string {
  return applications === undefined ? reportsDir : join(reportsDir, application);
}

/** Names of the files that a batch's report consists of; none when there is no report yet. */
export async function reportFiles(reportsDir: string, batchId: string): Promise<readonly string[]> {
  if (!PLAIN_NAME.test(batchId)) return [];
  const names = await namesIn(join(reportsDir, batchId));
  return names.filter((name) => REPORT_FILE.test(name)).toSorted();
}

/** The answer with one of these files, or null when there is no such file. Names that are not listed are never opened. */
export async function reportFileAnswer(reportsDir: string, batchId: string, name: string): Promise<Response | null> {
  if (!(await reportFiles(reportsDir, batchId)).includes(name)) return null;
  const extension = name.slice(name.lastIndexOf('.') + 1);
  const stream = createReadStream(join(reportsDir, batchId, name));
  return new Response(Readable.toWeb(stream) as ReadableStream<Uint8Array>, {
    headers: {
      'content-type':
        (extension === 'html' && name !== SHOWN ? null : MEDIA_TYPES[extension]) ?? 'application/octet-stream',
      'content-disposition': name === SHOWN ? 'inline' : `attachment; filename="${name}"`,
      'content-security-policy': REPORT_POLICY,
    },
  });
}
