import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rename, rm, stat, copyFile, mkdir, open } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { errorCode, unlessMissing } from '../platform/error-code.ts';
import { REPORT_DIRECTORY_MODE } from './write-synced.ts';
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { BatchInvoice } from '../domain/records/batch-record.ts';

/** A work folder of this age belongs to a killed process, because a living one ends long before. */
const STALE_AFTER_MS = 60 * 60 * 1000;
const WORK_PREFIX = '.writing-';
const OF_REVISION = /^\.writing-(?<revision>\d+)-/u;
/** A corrections file that is being set aside: a person may have edited it. */
const SET_ASIDE = /^corrections-replaced-by-/u;

/** Makes the work folder first and then takes the revision, so that an unwritable folder uses up no revisions. */
export async function makeWork(
  directory: string,
  nextRevision: (work: string) => Promise<number>,
): Promise<{ readonly path: string; readonly revision: number }> {
  const made = await mkdtemp(join(directory, WORK_PREFIX));
  try {
    const revision = await nextRevision(made);
    const path = join(directory, basename(made).replace(WORK_PREFIX, `${WORK_PREFIX}${revision}-`));
    await rename(made, path);
    return { path, revision };
  } catch (error) {
    await removeWork(directory, made);
    throw error;
  }
}

/** Takes away work folders of older revisions, so that their writers cannot put anything in place, even after a long stop. */
export async function supersedeOlder(directory: string, revision: number): Promise<void> {
  for (const name of await readdir(directory)) {
    const older = OF_REVISION.exec(name)?.groups?.['revision'];
    if (older === undefined || Number(older) >= revision) continue;
    const taken = join(directory, `${WORK_PREFIX}superseded-${randomUUID()}`);
    try {
      await rename(join(directory, name), taken);
    } catch (error) {
      if (errorCode(error) === 'ENOENT') continue;
      throw error;
    }
    await removeWork(directory, taken);
  }
}

/** True if a newer writer has taken the folder. */
export async function isSuperseded(directory: string, work: string): Promise<boolean> {
  return (await isMissing(work)) && !(await isMissing(directory));
}

/** Removes a work folder. A corrections file that is still inside, half-way set aside, moves to its place first. */
export async function removeWork(directory: string, work: string): Promise<void> {
  const names = (await unlessMissing(readdir(work))) ?? [];
  for (const name of names.filter((file) => SET_ASIDE.test(file)))
    await rename(join(work, name), join(directory, name));
  await rm(work, { recursive: true, force: true });
}

/** Removes the work folders of processes that were killed. */
export async function removeStaleWork(directory: string, now: number): Promise<void> {
  for (const name of await readdir(directory)) {
    if (!name.startsWith(WORK_PREFIX)) continue;
    const path = join(directory, name);
    const found = await stat(path).catch(() => null);
    if (found !== null && now - found.mtimeMs > STALE_AFTER_MS) await removeWork(directory, path);
  }
}

async function isMissing(path: string): Promise<boolean> {
  return (await stat(path).catch(errorCode)) === 'ENOENT';
}

/** `schema` and `batch` come first in a report, so its first bytes hold the lines of `batch`, except its last ones such as `proof`. */
const HEAD_BYTES = 16 * 1024;
const REVISION = /^ {4}"revision": (?<revision>\d+)/mu;
const KEPT_PREFIX = 'before-restore-';

/** Keeps a copy of a report that is newer than the restored ledger. Call it before the writer takes a revision. */
export async function keepNewerReport(
  { directory, work }: { readonly directory: string; readonly work: string },
  names: readonly string[],
  lastRevision: () => Promise<number>,
): Promise<void> {
  const json = join(directory, 'report.json');
  const found = await revisionOf(json);
  // Reads the ledger after the file, because another writer may put its report in place meanwhile.
  if (found === null || found <= (await lastRevision())) return;
  const { mtime } = await stat(json);
  const name = `${KEPT_PREFIX}${mtime.toISOString().replaceAll(':', '-')}`;
  if ((await unlessMissing(stat(join(directory, name)))) !== null) return;
  // Copies through the work folder: the copy appears whole, and a writer that lost the folder keeps nothing.
  await mkdir(join(work, name), { mode: REPORT_DIRECTORY_MODE });
  for (const file of names) await unlessMissing(copyFile(join(directory, file), join(work, name, file)));
  await rename(join(work, name), join(directory, name));
}

/** Returns the revision of a `report.json`, from its beginning; null without a file, and for a damaged one. */
async function revisionOf(json: string): Promise<number | null> {
  const file = await unlessMissing(open(json, 'r'));
  if (file === null) return null;
  try {
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(HEAD_BYTES), position: 0 });
    const revision = REVISION.exec(buffer.toString('utf8', 0, bytesRead))?.groups?.['revision'];
    return revision === undefined ? null : Number(revision);
  } finally {
    await file.close();
  }
}

/** The invoices of a batch from one reading of the ledger, in a file, so that each part of the report has the same content. */
export type InvoiceSpool = ReturnType<typeof createSpool>;

/** Rows and findings that stay in memory, about 20 MB; a spool file would cost more time than the report's parts. */
const MOST_IN_MEMORY = 60_000;

/** Makes a spool. For a large batch, it is a file at `path` with one JSON array of invoices per line. */
export function createSpool(path: string, mostInMemory = MOST_IN_MEMORY) {
  let kept: (readonly BatchInvoice[])[] = [];
  let weight = 0;
  return {
    async *fill(invoices: AsyncIterable<readonly BatchInvoice[]>): AsyncGenerator<readonly BatchInvoice[]> {
      const file = await open(path, 'w', 0o600);
      try {
        for await (const portion of invoices) {
          kept.push(portion);
          weight += portion.reduce((sum, { rows, findings }) => sum + rows.length + findings.length, 0);
          if (weight > mostInMemory) {
            await file.appendFile(kept.map((one) => `${lineOf(one)}\n`).join(''));
            kept = [];
          }
          yield portion;
        }
      } finally {
        await file.close();
      }
    },
    async *portions(): AsyncGenerator<readonly BatchInvoice[]> {
      if (weight <= mostInMemory) return yield* kept;
      const lines = createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY });
      for await (const line of lines) yield JSON.parse(line) as readonly BatchInvoice[];
    },
  };
}

/** Escapes U+2028 and U+2029, which JSON leaves as they are and Node's line reader takes for line ends. */
function lineOf(portion: readonly BatchInvoice[]): string {
  return JSON.stringify(portion).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
}
