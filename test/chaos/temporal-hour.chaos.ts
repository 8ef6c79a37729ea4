import { inject } from 'vitest';
import { CRASH_POINTS } from '../../src/wiring/start/crash-points.ts';
import type { CrashCase } from '../support/crash/crash-case.ts';
import { hasMovableClock } from '../support/movable-clock.ts';
import { crashMatrix, partAt } from './crash-matrix.ts';

const HOUR_MS = 3_600_000;
/** So long nobody answers: connections back off meanwhile, and answers that wait for Temporal are given up. */
const AWAY_MS = 20_000;
const LANES = 4;
const CHOSEN = new RegExp(process.env['CHAOS_POINTS'] ?? '.');

const clock = await hasMovableClock((line) => console.log(line));

const cases: readonly CrashCase[] = CRASH_POINTS.filter((point) => CHOSEN.test(point)).map((point) => ({
  ...{ part: partAt(point), point, victim: 'temporal', awayMs: AWAY_MS, clockAheadMs: HOUR_MS },
}));

/** All its time-outs, timers and retries are due at once when it is back. */
crashMatrix('Temporal away for an hour of its own time', cases, {
  lanes: LANES,
  missing: reasonToSkip(),
  shape: { invoices: 300, linesEach: 3, pageSize: 100, clock: true },
});

function reasonToSkip(): string | null {
  if (inject('postgresUrl') === null) return 'this machine has no PostgreSQL';
  return clock ? null : 'there is no Temporal server whose clock can be moved, and no Go to build one';
}
