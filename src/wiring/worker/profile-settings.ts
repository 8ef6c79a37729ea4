import type { RetrySettings } from '../../../activities/deps.ts';
import type { PollPace } from '../../domain/time/poll-times.ts';
import type { Config } from '../../runtime/config/config.ts';
import type { ServiceProfile } from '../../service-profile/profile.ts';
import { reasonCode } from '../../service-profile/reason-code.ts';
import { repeatWindowMs } from '../account/repeat-window.ts';

/** How pending invoices are polled, by the environment and the service profile. */
export function pollPaceOf({ settleTimeoutMs }: Config, { limits }: ServiceProfile): PollPace {
  const { pollEverySeconds } = limits;
  return { settleMs: settleTimeoutMs, everyMs: pollEverySeconds === null ? null : pollEverySeconds * 1_000 };
}

/** What the profile of a service allows to be sent again. */
export function retrySettings({ retry, idempotency }: ServiceProfile): RetrySettings {
  return {
    // The service's own spelling is meant, too; the ledger has that of the report.
    failedReasonCodes: retry.failedReasonCodes.map((code) => reasonCode(code) ?? code),
    maxGenerations: retry.maxGenerations,
    repeatsPerInvoice: retry.repeatsPerInvoice,
    retentionMs: repeatWindowMs({ idempotency }),
    rejectionIsProof: idempotency.mismatchCodes.length > 0,
    refusedRepeatIsProof: idempotency.refusedRepeatIsProof,
  };
}
