import type { PollPace } from '../../domain/time/poll-times.ts';
import type { Config } from '../../runtime/config/config.ts';
import type { ServiceProfile } from '../../service-profile/profile.ts';

/** How pending invoices are polled, by the environment and the service profile. */
export function pollPaceOf({ settleTimeoutMs }: Config, { limits }: ServiceProfile): PollPace {
  const { pollEverySeconds } = limits;
  return { settleMs: settleTimeoutMs, everyMs: pollEverySeconds === null ? null : pollEverySeconds * 1_000 };
}
