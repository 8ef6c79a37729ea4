import { fine, trouble, type Check } from './check.ts';

/** Signatures and retention windows are counted in minutes; more than this shows in them. */
const TOLERANCE_MS = 30_000;

/** Two clocks in epoch milliseconds, and whose the other one is, such as `the service's`. */
export interface TwoClocks {
  readonly theirs: number;
  readonly ours: number;
  readonly whose: string;
}

/** Whether two clocks agree, up to a second that a clock in whole seconds hides. */
export function clockCheck(name: string, { theirs, ours, whose }: TwoClocks): Check {
  const apart = Math.max(0, Math.abs(ours - theirs) - 1_000);
  const seconds = Math.round(apart / 1_000);
  return apart <= TOLERANCE_MS
    ? fine(name, seconds === 0 ? `agrees with ${whose}` : `${seconds} s from ${whose}`)
    : trouble(name, `${seconds} s from ${whose}.`, "Set this machine's clock (NTP).");
}
