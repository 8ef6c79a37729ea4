import type { ReportWriter } from '../../../activities/deps.ts';
import type { DropPoint } from '../../nightly/claim-folder.ts';
import type { InvoicingService } from '../../service/client.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { RunLog } from '../../nightly/run-log.ts';

/** Where the preload of the crash tests (`test/support/crash/preload.js`) leaves its `TestPoints`. */
export const TEST_POINTS = Symbol.for('lote.test-points');

/** The parts between whose steps a test of crash safety can end the process. */
export interface TestedParts {
  readonly ledger: Ledger;
  readonly service: InvoicingService;
  readonly reports: ReportWriter;
  readonly nights: RunLog;
  readonly drop: (point: DropPoint) => void;
  readonly signal: (workflowId: string, ordinals: readonly number[]) => Promise<void>;
  /** Whether rows of a small file stay in memory; a test needs them in the ledger where it ends the process there. */
  readonly buffersRows: boolean;
  /** The embedded server, so that a test can end it. */
  readonly temporal: { readonly kill: () => void };
}

/** Gives a part back with its points. */
export type TestPoints = <Kind extends keyof TestedParts>(kind: Kind, part: TestedParts[Kind]) => TestedParts[Kind];

/** A part with the points that a preload has set; without a preload, the part as it is. */
export const tested: TestPoints = (kind, part) => {
  const points = (globalThis as { [TEST_POINTS]?: TestPoints })[TEST_POINTS];
  return points === undefined ? part : points(kind, part);
};
