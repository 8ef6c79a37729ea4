import type { MatrixRow } from './crash-matrix.ts';

/** Who is struck: the process that comes to the point, or a server it depends on while it stands still there. */
export type Victim = 'itself' | 'database' | 'temporal';

export interface CrashCase {
  /** The process that comes to the point. */
  readonly part: 'worker' | 'receiver';
  /** `<point>[:<which time>]` */
  readonly point: string;
  readonly victim: Victim;
  /** For so long the victim is away: `itself` is stopped (SIGSTOP) and then goes on. Left out: killed, and started again at once. */
  readonly awayMs?: number;
  /** It is told to end (SIGTERM) while it stands still, hears of that when it goes on, and another one of its kind is started after its end. Left out: false. */
  readonly isToldToEnd?: boolean;
  /** How far the clock of the victim `temporal` has gone on when it is back. */
  readonly clockAheadMs?: number;
  /** A second worker joins when the part has come to the point. Default 1. */
  readonly workers?: 1 | 2;
}

export interface CrashEnd extends MatrixRow {
  readonly posts: number;
  /** Of the whole case. */
  readonly seconds: number;
}

/** Whether the part only stands still at its point, while something is done to it or to a server. */
export function standsStill({ victim, awayMs }: CrashCase): boolean {
  return victim !== 'itself' || awayMs !== undefined;
}

/** As `LOTE_CRASH_AT` takes it. */
export function crashAtOf(crash: CrashCase): string {
  return standsStill(crash) ? `stop@${crash.point}` : crash.point;
}

/** "worker stopped for 70 s", "database killed": the first column of the matrix. */
export function faultOf(crash: CrashCase): string {
  return crash.isToldToEnd === true ? `${blowOf(crash)} and told to end` : blowOf(crash);
}

function blowOf({ part, victim, awayMs, clockAheadMs }: CrashCase): string {
  const who = victim === 'itself' ? part : victim;
  if (clockAheadMs !== undefined) return `${who} away for ${clockAheadMs / 60_000} min of its time`;
  if (awayMs === undefined) return `${who} killed`;
  return `${who} ${victim === 'itself' ? 'stopped' : 'away'} for ${awayMs / 1000} s`;
}
