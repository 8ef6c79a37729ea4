import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { namesIn } from '../../platform/error-code.ts';

const PLAIN_NAME = /^\w[\w.-]*$/u;
const REPORT_FILE = /^(?:report\.[a-z0-9]+|corrections[\w-]*\.[a-z0-9]+)$/u;

/** The only file that the browser shows as a page; it saves any other file of the folder. */
const SHOWN = 'report.html';

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  json: 'application/json',
  // No charset: corrections have the encoding of the file they came from.
  csv: 'text/csv',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
};

/** A report contains texts of files and of the service, so its policy lets no text run or load code. */
const REPORT_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Returns the names of the files of a batch's report; none while there is no report. */
export async function reportFiles(reportsDir: string, batchId: string): Promise<readonly string[]> {
  if (!PLAIN_NAME.test(batchId)) return [];
  return (await namesIn(join(reportsDir, batchId))).filter((name) => REPORT_FILE.test(name));
}

/** Returns the answer with one of these files; `name` must be one that `reportFiles` has listed. */
export function reportFileAnswer(reportsDir: string, batchId: string, name: string): Response {
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
