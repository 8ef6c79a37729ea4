import { ActivityFailure, ApplicationFailure, isCancellation, log } from '@temporalio/workflow';
import type { NightlyScope } from '../../activities/nightly/nightly.ts';
import { activities } from '../activities.ts';
import { requireOwnInput } from '../typed-by-hand.ts';
import type { MessageChannel } from '../../src/domain/records/night.ts';

const { sendNightMessage, closeNightMessage } = activities;

export interface NightMessageInput extends NightlyScope {
  readonly channels: readonly MessageChannel[];
}

/** Sends the message of a night on each channel, and tries again for 12 hours if it must; the night's page shows the result. */
export async function nightMessage(input: NightMessageInput): Promise<void> {
  requireOwnInput('nightMessage', input, { ledgerId: '', night: { nightId: '', date: '' }, channels: [''] });
  const { ledgerId, night, channels } = input;
  await Promise.all(channels.map((channel) => deliver(channel)));

  async function deliver(channel: MessageChannel): Promise<void> {
    try {
      await sendNightMessage({ ledgerId, night, channel });
    } catch (error) {
      if (isCancellation(error)) throw error;
      log.warn('the message of the night was not sent', { night: night.nightId, channel });
      // Otherwise the page would say that Lote still tries.
      await closeNightMessage({ ledgerId, night, channel, isUnanswered: !isAnswer(error) });
    }
  }
}

/** Returns whether the last try itself reported that it did not send the message. A try that was cut off may have sent it. */
function isAnswer(error: unknown): boolean {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  return cause instanceof ApplicationFailure && (cause.type === 'message-unsent' || cause.type === 'message-refused');
}
