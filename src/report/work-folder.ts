import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rename, rm, stat, copyFile, mkdir, open } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { errorCode, unlessMissing } from '../platform/error-code.ts';
import { REPORT_DIRECTORY_MODE } from './write-synced.ts';
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { BatchInvoice } from '../domain/records/batch-record.ts';

/** Work folders that a killed process left; a living one is done long before. */
const STALE_AFTER_MS = 60 * 60 * 1000;
const WORK_PREFIX = '.writing-';
const OF_REVISION = /^\.writing-(?<revision>\d+)-/u;
/** A corrections file on its way out of the place of the newest one: a person may have edited it. */
const SET_ASIDE = /^corrections-replaced-by-/u;

interface WorkFolder {
  readonly path: string;
  readonly revision: number;
}

/** Makes the work folder, and then takes the revision, so that a folder that cannot be written uses up no revisions. */
export async function makeWork(
  directory: string,
  nextRevision: (work: string) => Promise<number>,
): Promise<WorkFolder> {
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

/** Takes the work folders of older revisions away: their writers cannot put anything in place any more, even after a long stop. */
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

/** Whether a newer writer has taken the folder. */
export async function isSuperseded(directory: string, work: string): Promise<boolean> {
  return (await isMissing(work)) && !(await isMissing(directory));
}

/** Removes what was made in it. A corrections file that was set aside half-way goes to its place first. */
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
  return stat(path).then(
    () => false,
    (error: unknown) => errorCode(error) === 'ENOENT',
  );
}

/** `schema` and `batch` come first in a report, and a line break in a text is escaped: the lines of `batch` are here, but those at its end, such as `proof`. */
const HEAD_BYTES = 16 * 1024;
const REVISION = /^ {4}"revision": (?<revision>\d+)/mu;
const KEPT_PREFIX = 'before-restore-';

interface NewReport {
  readonly directory: string;
  readonly work: string;
  readonly lastRevision: () => Promise<number>;
}

/** Keeps a copy of a report that is newer than the ledger, which was restored. Call it before the writer takes a revision. */
export async function keepNewerReport(report: NewReport, names: readonly string[]): Promise<void> {
  const { directory, work, lastRevision } = report;
  const json = join(directory, 'report.json');
  const found = await revisionOf(json);
  // The ledger is asked after the file is read: another writer may put its report in place meanwhile.
  if (typeof found !== 'number' || found <= (await lastRevision())) return;
  const { mtime } = await stat(json);
  const name = `${KEPT_PREFIX}${mtime.toISOString().replaceAll(':', '-')}`;
  const isKept = (await unlessMissing(stat(join(directory, name)))) !== null;
  if (isKept) return;
  // Through the work folder: it appears whole, and a writer that has lost the folder to a newer one keeps nothing.
  await mkdir(join(work, name), { mode: REPORT_DIRECTORY_MODE });
  for (const file of names) await unlessMissing(copyFile(join(directory, file), join(work, name, file)));
  await rename(join(work, name), join(directory, name));
}

/** Revision of a `report.json`, read from its head; null: there is none. `unreadable`: it is damaged. */
async function revisionOf(json: string): Promise<number | 'unreadable' | null> {
  const head = await reportHead(json);
  if (head === null) return null;
  const revision = REVISION.exec(head)?.groups?.['revision'];
  return revision === undefined ? 'unreadable' : Number(revision);
}

async function reportHead(json: string): Promise<string | null> {
  const file = await unlessMissing(open(json, 'r'));
  if (file === null) return null;
  try {
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(HEAD_BYTES), position: 0 });
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}

/** A batch's invoices as read from the ledger once, in a file: each part of the report is written from the same reading. */
export type InvoiceSpool = ReturnType<typeof createSpool>;

/** Rows and findings whose invoices stay in memory: about 20 MB. To write and parse them takes longer than to write the parts. */
const MOST_IN_MEMORY = 60_000;

/** Makes a spool; that of a large batch is a file at `path` with one JSON array of invoices a line. */
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

/** JSON leaves these two as they are, and Node's line reader takes them for line ends. */
function lineOf(portion: readonly BatchInvoice[]): string {
  return JSON.stringify(portion).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
}
