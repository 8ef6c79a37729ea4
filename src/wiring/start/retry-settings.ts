import type { RetrySettings } from '../../../activities/deps.ts';
import type { ServiceProfile } from '../../service-profile/profile.ts';
import { repeatWindowMs } from '../account/repeat-window.ts';

/** What the profile of a service allows to be sent again. */
export function retrySettings({ retry, idempotency }: ServiceProfile): RetrySettings {
  return {
    failedReasonCodes: retry.failedReasonCodes,
    maxGenerations: retry.maxGenerations,
    repeatsPerInvoice: retry.repeatsPerInvoice,
    retentionMs: repeatWindowMs({ idempotency }),
    rejectionIsProof: idempotency.mismatchCodes.length > 0,
    refusedRepeatIsProof: idempotency.refusedRepeatIsProof,
  };
}
