import { LoteError } from '../src/domain/errors.ts';
import type { ActivityDeps } from './deps.ts';

/** Whether the worker of a workflow has the application that it was started for. */
export interface FoundApplication {
  readonly isHere: boolean;
  /** As in `OperatorLinks`. */
  readonly language?: string;
}

/**
 * A worker of one application: work that names one waits on a queue that nobody polls.
 * @throws LoteError `application-mismatch`
 */
export function findOnlyApplication({ application }: Pick<ActivityDeps, 'application'>): Promise<FoundApplication> {
  throw new LoteError(
    'application-mismatch',
    `This installation has one application, "${application}", and work for it names none. Nothing was sent. Start it again without "application" in its input.`,
  );
}
