import { setTimeout as sleep } from 'node:timers/promises';
import { LoteError } from '../../domain/errors.ts';
import type { OwnerApi } from '../../wiring/operator/owner-api.ts';

const POLL_INTERVAL_MS = 500;

/** Rejects with `owner-leaving` when the owner has ended, before `done`: its Temporal server may outlive it, and then nobody works on what it holds. */
export async function ownerGone(owner: Pick<OwnerApi, 'owns'>, done: AbortSignal): Promise<never> {
  while (owner.owns()) {
    await sleep(POLL_INTERVAL_MS, undefined, { ref: false });
    if (done.aborted) return new Promise(() => undefined);
  }
  throw new LoteError(
    'owner-leaving',
    'Waiting for the owner of the data directory: it has ended. The same command goes on where it stopped.',
  );
}
