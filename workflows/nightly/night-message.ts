import { ActivityFailure, ApplicationFailure, isCancellation, log } from '@temporalio/workflow';
import type { NightlyScope } from '../../activities/nightly/nightly.ts';
import { activities } from '../activities.ts';
import { requireOwnInput } from '../typed-by-hand.ts';

const { sendNightMessage, closeNightMessage } = activities;

/** Sends the message of a night, and tries again for 12 hours if it must; the night's page shows the result. */
export async function nightMessage(input: NightlyScope): Promise<void> {
  requireOwnInput('nightMessage', input, { ledgerId: '', night: { nightId: '', date: '' } });
  const { ledgerId, night } = input;
  try {
    await sendNightMessage({ ledgerId, night });
  } catch (error) {
    if (isCancellation(error)) throw error;
    log.warn('the message of the night was not sent', { night: night.nightId });
    // Otherwise the page would say that Lote still tries.
    await closeNightMessage({ ledgerId, night, isUnanswered: !isAnswer(error) });
  }
}

/** Returns whether the last try itself reported that it did not send the message. A try that was cut off may have sent it. */
function isAnswer(error: unknown): boolean {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  return cause instanceof ApplicationFailure && (cause.type === 'message-unsent' || cause.type === 'message-refused');
}
