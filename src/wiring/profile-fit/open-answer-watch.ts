import { createAnswerWatch, type AnswerWatch } from '../../../activities/profile-fit/answer-watch.ts';
import { commandLine } from '../../domain/text/command-line.ts';
import { pollTimes } from '../../domain/time/poll-times.ts';
import type { Ledger } from '../../domain/ports/ledger/ledger.ts';
import type { Config } from '../../runtime/config/config.ts';
import type { Logger } from '../../runtime/process/logger.ts';
import type { ServiceProfile } from '../../service-profile/profile.ts';
import { profileDigestOf } from './profile-digest.ts';
import { pollPaceOf } from '../worker/profile-settings.ts';

export interface AnswerWatchParts {
  readonly config: Config;
  readonly ledger: Ledger;
  readonly service: { readonly baseUrl: string };
  readonly profile: ServiceProfile;
  /** The service is told where to send events. */
  readonly expectsEvents: boolean;
  readonly log: Logger;
}

/** Two GETs that are this far apart are two proofs. */
const SECOND_LOOK_SHARE = 2;

/** The watch that receiver and activities of one process share. */
export function openAnswerWatch(parts: AnswerWatchParts): AnswerWatch {
  const { config, ledger, service, profile, expectsEvents, log } = parts;
  const [firstPoll = 0] = pollTimes(pollPaceOf(config, profile));
  const { issued, failed } = profile.invoice;
  return createAnswerWatch({
    ...{ ledger, expectsEvents, issued, failed, log },
    baseUrl: service.baseUrl,
    profileDigest: profileDigestOf(config, profile),
    confirmCommand: commandLine(config, 'confirm-service --profile'),
    secondLookMs: firstPoll / SECOND_LOOK_SHARE,
    now: Date.now,
  });
}
