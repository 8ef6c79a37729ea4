import { patched } from '@temporalio/workflow';
import type { PatchName } from '../src/contract/patches.ts';

/**
 * Whether this run takes the changed path. False in a run that passed here under the code before, and while a worker that does not know the patch
 * polls the task queue (`src/wiring/temporal/shared-patches.ts`).
 */
export function hasPatch(name: PatchName): boolean {
  return patched(name);
}
