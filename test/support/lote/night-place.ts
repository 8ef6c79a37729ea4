import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Sandbox } from '../../../src/sandbox/sandbox.ts';
import { endLeftServer } from '../crash/crash-place.ts';
import { writeInvoiceFile } from '../files/invoice-file.ts';
import { newPlace, type CommandEnd } from './lote-command.ts';
import { processes } from './processes.ts';
import { independentSandbox } from '../servers/sandbox-books.ts';
import { sandboxEnv } from '../servers/sandbox-env.ts';

/** Two files of one night that is ended again and again; the sandbox outlives it all, and its books are the judge. */
export interface NightlyPlace {
  /** `lote nightly now`, with or without a point at which it ends itself. */
  run(crashAt?: string): Promise<CommandEnd>;
  /** Each file is somewhere, and in one place only: still waiting, in progress, or on its shelf. */
  expectNothingLost(): Promise<void>;
  /** Every invoice issued exactly once, each file on its shelf with its note, its batch with a report, the night with its summary. */
  expectDone(last: CommandEnd): Promise<void>;
  remove(): Promise<void>;
}

const INVOICES = 20;
const FILES = ['april.csv', 'may.csv'];

/** `more`: settings that a test adds. */
export async function nightPlace(more: Readonly<Record<string, string>> = {}): Promise<NightlyPlace> {
  const place = await newPlace();
  const all = processes();
  const sandbox: Sandbox = await independentSandbox({ settleMs: 50 });
  await mkdir(place.inputDir, { recursive: true });
  for (const [at, name] of FILES.entries()) {
    const firstOrdinal = 1 + at * INVOICES;
    await writeInvoiceFile(join(place.inputDir, name), { invoices: INVOICES, firstOrdinal });
  }
  const env = {
    ...(await sandboxEnv(place, sandbox)),
    LOTE_SETTLE_TIMEOUT: '40s',
    LOTE_DROP_STABLE_FOR: '50ms',
    ...more,
  };
  const tree = async (): Promise<readonly string[]> => (await readdir(place.inputDir, { recursive: true })).toSorted();
  const places = async (name: string): Promise<readonly string[]> =>
    (await tree()).filter((path) => path === name || path.endsWith(`/${name}`));
  return {
    run: (crashAt) =>
      all.start(['nightly', 'now', '--json'], crashAt === undefined ? env : { ...env, LOTE_CRASH_AT: crashAt }).end,
    async expectNothingLost() {
      for (const name of FILES) expect(await places(name), name).toHaveLength(1);
    },
    async expectDone(last) {
      expect(last.code, last.stderr).toBe(0);
      const books = sandbox.books();
      expect(books.duplicates).toEqual([]);
      expect(books.totals).toMatchObject({ invoices: 2 * INVOICES, issued: 2 * INVOICES, failed: 0 });
      for (const name of FILES) {
        const [shelved = ''] = await places(name);
        expect(shelved).toMatch(/^archive\//u);
        const note = await readFile(join(place.inputDir, `${shelved}.note.txt`), 'utf8');
        expect(note).toContain(`Everything went out: ${INVOICES} invoices.`);
        const [, report = ''] = /^Report +(.*)$/mu.exec(note) ?? [];
        expect(await readFile(report, 'utf8')).toContain('</html>');
      }
      expect((await tree()).filter((path) => path.startsWith('in-progress/'))).toEqual([]);
      const { night } = JSON.parse(last.stdout) as { readonly night: { readonly reports: { readonly json: string } } };
      const summary = JSON.parse(await readFile(night.reports.json, 'utf8')) as { readonly totals: object };
      expect(summary.totals).toMatchObject({ files: 2, issued: 2, failed: 0, refused: 0 });
    },
    async remove() {
      await all.killAll();
      await endLeftServer(place.dataDir);
      await sandbox.close();
      await place.remove();
    },
  };
}
