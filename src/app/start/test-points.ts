import type { ReportWriter } from '../../../activities/deps.ts';
import type { InvoicingService } from '../../service/client.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { RunLog } from '../../nightly/run-log.ts';

/** Key under which the preload of the crash tests (`test/support/crash/preload.js`) stores its `TestPoints`. */
export const TEST_POINTS = Symbol.for('lote.test-points');

/** Parts between whose steps a crash test can end the process. */
export interface TestedParts {
  readonly ledger: Ledger;
  readonly service: InvoicingService;
  readonly reports: ReportWriter;
  readonly nights: RunLog;
  readonly signal: (workflowId: string, ordinals: readonly number[]) => Promise<void>;
  /** True keeps rows of a small file in memory; a crash test may need them in the ledger. */
  readonly buffersRows: boolean;
  /** The embedded server, which a test can kill. */
  readonly temporal: { readonly kill: () => void };
}

/** Returns a part with its test points. */
export type TestPoints = <Kind extends keyof TestedParts>(kind: Kind, part: TestedParts[Kind]) => TestedParts[Kind];

/** Returns a part with the points of a preload or, without a preload, the part itself. */
export const tested: TestPoints = (kind, part) => {
  const points = (globalThis as { [TEST_POINTS]?: TestPoints })[TEST_POINTS];
  return points === undefined ? part : points(kind, part);
};
