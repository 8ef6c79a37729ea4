import { setFlagsFromString } from 'node:v8';

/** The first Node whose V8 has two optimising compilers: the quick one makes a function fast enough to wait for the slow one. */
const TWO_COMPILERS = 24;
/**
 * Calls of a function before the slow one compiles it; V8's own bound is 3,000. That compiler took a tenth of two cores while a new process sent its first
 * 20,000 invoices. What runs longer is compiled all the same, a little later.
 */
const CALLS = 20_000;

/** Lets V8 spend less on functions that a short process calls a few thousand times. */
export function optimiseLater(version: string = process.versions.node): void {
  if (Number.parseInt(version, 10) >= TWO_COMPILERS) setFlagsFromString(`--invocation-count-for-turbofan=${CALLS}`);
}
