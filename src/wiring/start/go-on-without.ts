import { LoteError } from '../../domain/errors.ts';
import type { Config } from '../../runtime/config/config.ts';
import type { Logger } from '../../runtime/process/logger.ts';

/**
 * What is wrong with one of several applications must not keep the others from starting: it is logged, and each activity
 * of that application asks again, and waits.
 * @throws the error where the application is the only one, and where it is no LoteError
 */
export async function goOnWithout(
  { config, log }: { readonly config: Config; readonly log: Pick<Logger, 'error'> },
  trouble: string,
  step: () => Promise<unknown>,
): Promise<void> {
  try {
    await step();
  } catch (error) {
    if (!config.isOneOfSeveral || !(error instanceof LoteError)) throw error;
    log.error(trouble, { application: config.application, err: error });
  }
}
