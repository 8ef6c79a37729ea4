import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { CommandEnd } from '../lote/lote-command.ts';
import { batchesOf, lotePlace, nightIn, readJson, type LotePlaceOptions } from '../lote/running-lote.ts';
import { bookedLines, HELD, judge, type Judgement } from './crash-case.ts';

export type CrashPlace = Awaited<ReturnType<typeof crashPlace>>;

/** Longer than the time in which a page polls by itself: otherwise Lote would never signal a page. */
const SETTLE_MS = 3_000;
/** Ordinals of failing invoices. Lote confirms a failed event by GET; without one, Lote would record no status. */
const FAILING = [5, 155];
const NIGHT_INVOICES = 20;
const NIGHT_FILES = ['april.csv', 'may.csv'];

/**
 * A place for `lote run` of some files, which a test ends several times; the sandbox outlives it and judges it. Pages
 * are small by default, so that a batch has several.
 */
export async function crashPlace(invoices: number, pageSize = 100) {
  const booked = bookedLines(SETTLE_MS);
  const env = { LOTE_PAGE_SIZE: String(pageSize), LOTE_SETTLE_TIMEOUT: '40s' };
  const place = await lotePlace({ temporal: 'own', sandbox: { latencyMs: 5, engine: booked.engine }, env });
  const file = await place.file('crash.csv', { invoices, failing: FAILING });
  const files = [file];
  return {
    /** Adds a file of the same size, which each later run reads after the first file. */
    async addFile(series: string) {
      files.push(await place.file(`${series}.csv`, { invoices, failing: FAILING, series }));
    },
    /** Runs the same command, with or without a point at which it ends itself. */
    run: (crashAt?: string) => place.all.start(['run', ...files, '--json'], at(place.env, crashAt)).end,
    /** Judges each file by the books, and by what the last run says of its batch. */
    async judge(last: CommandEnd): Promise<Judgement> {
      const batches = last.stdout === '' ? [] : batchesOf(last);
      const shape = { invoices, failing: FAILING.length, files: files.length };
      const judged = await Promise.all(
        files.map((one, at) =>
          judge({ ...shape, file: one }, { ...place, booked }, batches[at] ?? 'no batch is named'),
        ),
      );
      // Exit code 1: finished, and some invoices are not issued.
      const left = last.code === 1 ? HELD : `lote run ended with ${last.code}: ${last.stderr.trim().slice(-300)}`;
      const verdict = [left, ...judged.map((one) => one.verdict)].find((one) => one !== HELD) ?? HELD;
      return { ...(judged[0] as Judgement), verdict };
    },
    remove: place.remove,
  };
}

/** A place for `lote nightly now` of two files. */
export async function nightPlace(temporal: LotePlaceOptions['temporal'] = 'own') {
  const place = await lotePlace({ temporal, sandbox: { settleMs: 50 } });
  for (const [nth, name] of NIGHT_FILES.entries())
    await place.file(name, { invoices: NIGHT_INVOICES, firstOrdinal: 1 + nth * NIGHT_INVOICES });
  const tree = async (): Promise<readonly string[]> => (await readdir(place.inputDir, { recursive: true })).toSorted();
  const places = async (name: string): Promise<readonly string[]> =>
    (await tree()).filter((path) => path === name || path.endsWith(`/${name}`));
  return {
    run: (crashAt?: string) => place.all.start(['nightly', 'now', '--json'], at(place.env, crashAt)).end,
    /** Expects each file in exactly one folder: still waiting, in progress, or archived. */
    async expectNothingLost() {
      for (const name of NIGHT_FILES) expect(await places(name), name).toHaveLength(1);
    },
    /** Expects each invoice issued exactly once, each file archived with its note, all reports, and a summary. */
    async expectDone(last: CommandEnd) {
      expect(last.code, last.stderr).toBe(0);
      place.expectIssued(2 * NIGHT_INVOICES);
      for (const name of NIGHT_FILES) {
        const [shelved = ''] = await places(name);
        expect(shelved).toMatch(/^archive\//u);
        const note = await readFile(join(place.inputDir, `${shelved}.note.txt`), 'utf8');
        expect(note).toContain(`Everything went out: ${NIGHT_INVOICES} invoices.`);
        const [, report = ''] = /^Report +(.*)$/mu.exec(note) ?? [];
        expect(await readFile(report, 'utf8')).toContain('</html>');
      }
      expect((await tree()).filter((path) => path.startsWith('in-progress/'))).toEqual([]);
      const summary = await readJson<{ readonly totals: object }>(nightIn(last).reports.json);
      expect(summary.totals).toMatchObject({ files: 2, issued: 2, failed: 0, refused: 0 });
    },
    remove: place.remove,
  };
}

function at(env: Readonly<Record<string, string>>, crashAt: string | undefined): Readonly<Record<string, string>> {
  return crashAt === undefined ? env : { ...env, CRASH_AT: crashAt };
}
