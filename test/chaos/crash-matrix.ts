import { describe, expect, inject, it } from 'vitest';
import { faultOf, type CrashCase, HELD, type MatrixRow } from '../support/crash/crash-case.ts';
import { crashLane, type CrashLaneOptions } from '../support/crash/crash-lane.ts';

/** Sets of servers that work the cases off side by side: most of a case is waiting for the heartbeat of what was killed. */
const LANES = 4;
/** What the receiver comes to; everything else is the worker's. A status is recorded there by whoever confirms a failed event first. */
const AT_RECEIVER = /event|signal|status/;
/** Done once for a ledger: such a case needs servers that nobody has used. */
const ONCE = /registration/;
const LONGEST_MATRIX_MS = 3 * 3_600_000;

/** The process that comes to a point. */
export function partAt(point: string): CrashCase['part'] {
  return AT_RECEIVER.test(point) ? 'receiver' : 'worker';
}

/** Runs the cases on a few lanes and prints one row for each; fails when one of them did not hold. */
export function crashMatrix(title: string, cases: readonly CrashCase[], shape?: CrashLaneOptions): void {
  const isMissing = inject('postgresUrl') === null;
  if (isMissing) console.log(`${title}: skipped, this machine has no PostgreSQL`);
  describe.skipIf(isMissing)(`crash matrix: ${title}`, { concurrent: true, timeout: LONGEST_MATRIX_MS }, () => {
    const waiting = [...cases];
    let done = 0;

    it.each(Array.from({ length: LANES }, (_, lane) => lane))('holds in every case, lane %i', async () => {
      const failures: string[] = [];
      while (waiting.length > 0) failures.push(...(await oneLane(waiting, note)));
      expect(failures).toEqual([]);
    });

    function note(row: MatrixRow): void {
      done += 1;
      console.log(
        `${done} of ${cases.length}: ${row.fault} at ${row.step}, ${row.workers} workers, ${row.longestWait} s: ${row.verdict}`,
      );
    }
  });

  /** Cases on one set of servers, until one fails: what it leaves behind must not be held against the next. */
  async function oneLane(waiting: CrashCase[], note: (row: MatrixRow) => void): Promise<readonly string[]> {
    const lane = await crashLane(shape);
    if (lane === null) return ['no PostgreSQL'];
    try {
      for (let fresh = true; ; fresh = false) {
        const at = waiting.findIndex(({ point }) => fresh || !ONCE.test(point));
        const [one] = at === -1 ? [] : waiting.splice(at, 1);
        if (one === undefined) return [];
        const row = await lane.surviveOne(one).catch((error: unknown) => failedRow(one, String(error)));
        note(row);
        if (row.verdict !== HELD) return [`${row.fault} at ${row.step}: ${row.verdict}`];
      }
    } finally {
      await lane.remove();
    }
  }
}

/** A case that could not be brought to its point. */
function failedRow(one: CrashCase, verdict: string): MatrixRow {
  const { part, point, workers = 1 } = one;
  return {
    ...{ fault: faultOf(one), step: `${part} ${point}`, workers, verdict },
    ...{ invoices: 0, lost: 0, double: 0, cut: 0, longestWait: 0 },
  };
}
