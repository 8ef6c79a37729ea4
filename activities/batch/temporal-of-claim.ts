import type { ActivityDeps } from '../deps.ts';

/** For a claim, which does not wait for this: null where Temporal does not say it now. Its batch is then as one that an earlier version of Lote claimed. */
export async function temporalOfClaim({ runs, log }: Pick<ActivityDeps, 'runs' | 'log'>): Promise<string | null> {
  try {
    return await runs.temporalId();
  } catch (error) {
    log.warn('Temporal has not said which database it has', { err: error });
    return null;
  }
}
