import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { processStartTime } from '../../../src/runtime/process/process-start-time.ts';
import type { Sandbox } from '../../../src/sandbox/sandbox.ts';
import { bookedLines, type BookDifferences } from './booked-lines.ts';
import { writeInvoiceFile } from '../files/invoice-file.ts';
import { newPlace, type CommandEnd } from '../lote/lote-command.ts';
import { processes } from '../lote/processes.ts';
import { independentSandbox } from '../servers/sandbox-books.ts';
import { sandboxEnv } from '../servers/sandbox-env.ts';

/** Files whose run is ended again and again; the sandbox outlives it all, and its books are the judge. */
export interface CrashPlace {
  readonly sandbox: Sandbox;
  /** One more file of the same size, which each later run takes after the first one. */
  addFile(series: string): Promise<void>;
  /** The same command each time, with or without a point at which it ends itself. */
  run(crashAt?: string): Promise<CommandEnd>;
  /** Every invoice issued exactly once, or failed as the books say it; the report, the ledger and the books say the same. */
  expectTruth(last: CommandEnd): Promise<void>;
  /** The first file against the books, line by line. */
  differences(): Promise<BookDifferences>;
  remove(): Promise<void>;
}

interface ReportedInvoice {
  readonly serviceId: string;
  readonly idempotencyKey: string;
  readonly state: string;
}

/** Longer than a page looks for its last word by itself: otherwise no page would ever be signalled. */
const SETTLE_MS = 3_000;
/** Failed events are confirmed by GET: without them no status would ever be recorded. */
const FAILING = [5, 155];

/** Small pages, unless told, so that a batch has several. */
export async function crashPlace(invoices: number, pageSize = 100): Promise<CrashPlace> {
  const place = await newPlace();
  const all = processes();
  const booked = bookedLines(SETTLE_MS);
  const sandbox = await independentSandbox({ latencyMs: 5, engine: booked.engine });
  const file = join(place.inputDir, 'crash.csv');
  const files = [file];
  await writeInvoiceFile(file, { invoices, failing: FAILING });
  const env = {
    ...(await sandboxEnv(place, sandbox)),
    LOTE_PAGE_SIZE: String(pageSize),
    LOTE_SETTLE_TIMEOUT: '40s',
  };
  return {
    sandbox,
    async addFile(series) {
      const added = join(place.inputDir, `${series}.csv`);
      await writeInvoiceFile(added, { invoices, failing: FAILING, series });
      files.push(added);
    },
    run: (crashAt) =>
      all.start(['run', ...files, '--json'], crashAt === undefined ? env : { ...env, LOTE_CRASH_AT: crashAt }).end,
    async expectTruth(last) {
      // 1: finished, and some are not issued.
      expect(last.code, last.stderr).toBe(1);
      const truth = { invoices, issued: invoices - FAILING.length, failed: FAILING.length };
      const books = sandbox.books();
      expect(books.duplicates).toEqual([]);
      expect(books.totals).toMatchObject({
        invoices: files.length * truth.invoices,
        issued: files.length * truth.issued,
        failed: files.length * truth.failed,
      });
      const { batches } = JSON.parse(last.stdout) as {
        batches: { counts: Record<string, number>; reports: { json: string } }[];
      };
      expect(batches).toMatchObject(files.map(() => ({ counts: truth })));
      const reports = await Promise.all(batches.map((batch) => readFile(batch.reports.json, 'utf8')));
      const reported = reports.flatMap(
        (text) => (JSON.parse(text) as { invoices: readonly ReportedInvoice[] }).invoices,
      );
      expect(reported.map((one) => `${one.serviceId} ${one.idempotencyKey} ${one.state}`).toSorted()).toEqual(
        books.invoices.map((one) => `${one.id} ${one.idempotencyKey} ${one.status}`).toSorted(),
      );
    },
    differences: () => booked.differences(file),
    async remove() {
      await all.killAll();
      await endLeftServer(place.dataDir);
      await sandbox.close();
      await place.remove();
    },
  };
}

/** A killed run leaves its Temporal server to the next one; a test that fails in between must not. */
export async function endLeftServer(dataDir: string): Promise<void> {
  const text = await readFile(join(dataDir, 'temporal.json'), 'utf8').catch(() => null);
  if (text === null) return;
  const { pid, startTime } = JSON.parse(text) as { pid: number; startTime: string };
  if ((await processStartTime(pid)) === startTime) process.kill(pid, 'SIGKILL');
}
