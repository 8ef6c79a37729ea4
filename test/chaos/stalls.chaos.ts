import { CRASH_POINTS } from '../support/crash/crash-points.ts';
import type { CrashCase } from '../support/crash/crash-case.ts';
import { crashMatrix, partAt } from './crash-matrix.ts';

/** Longer than every time-out on the way of a batch: heartbeats 30 s, requests 45 s, workflow tasks 10 s. */
const STOPPED_MS = 70_000;
const CHOSEN = new RegExp(process.env['CHAOS_POINTS'] ?? '.');

const points = CRASH_POINTS.filter((point) => CHOSEN.test(point));

const cases: readonly CrashCase[] = ([1, 2] as const).flatMap((workers) =>
  points.map((point): CrashCase => ({ part: partAt(point), point, victim: 'itself', awayMs: STOPPED_MS, workers })),
);

const SHAPE = { invoices: 300, linesEach: 3, pageSize: 100 };

crashMatrix('stopped longer than every time-out, and then going on', cases, SHAPE);
crashMatrix(
  'stopped longer than every time-out, and told to end meanwhile',
  cases.map((one) => ({ ...one, isToldToEnd: true })),
  SHAPE,
);
