import { patched } from '@temporalio/workflow';
import type { PatchName } from '../src/contract/patches.ts';

/**
 * Whether this run takes the changed path. False in a run that passed here under the code before, and while a worker that does not know the patch
 * polls the task queue (`src/wiring/temporal/shared-patches.ts`). The SDK keeps the first answer that a run gets beyond its replay (`patchDecisions`):
 * false stays false, also after the older worker has left, until a worker takes the run up anew, after a restart or because another run needed its
 * place in the cache.
 */
export function hasPatch(name: PatchName): boolean {
  return patched(name);
}
