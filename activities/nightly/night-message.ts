import { LoteError } from '../../src/domain/errors.ts';
import type { ActivityDeps } from '../deps.ts';
import type { NightlyScope } from './nightly.ts';
import type { MessageChannel, NightMessageNote } from '../../src/domain/records/night.ts';

export interface SendNightMessageInput extends NightlyScope {
  readonly channel: MessageChannel;
}

/** What a try leaves that was cut off: its message may have arrived before. */
const UNANSWERED = 'The last try ended without an answer: it may have been sent.';

/**
 * Sends the message of a night on one way, unless the run log says that it was sent. After a crash between the two it
 * is sent again, with the same id.
 */
export async function sendNightMessage(deps: ActivityDeps, { night, channel }: SendNightMessageInput): Promise<void> {
  const run = await deps.nights.run(night);
  if (run === null || run.messages.some((note) => note.channel === channel && note.state === 'sent')) return;
  const note = (state: NightMessageNote['state'], detail: string | null) =>
    deps.nights.noteMessage(night, { channel, state, at: deps.now(), detail });
  let wrong: string | null;
  try {
    wrong = await deps.messages.send(channel, { date: night.date, run });
  } catch (error) {
    if (error instanceof LoteError && error.code === 'message-unsent') await note('unsent', error.message);
    if (error instanceof LoteError && error.code === 'message-refused') await note('refused', error.message);
    throw error;
  }
  await note('sent', wrong).catch((err: unknown) => {
    // To fail here would send it again, for as long as the folder cannot be written.
    deps.log.warn('a message was sent, and the page of its night does not say so', {
      night: night.nightId,
      channel,
      err,
    });
  });
}

export interface CloseNightMessageInput extends SendNightMessageInput {
  /** The last try ended without saying how. */
  readonly isUnanswered?: boolean;
}

/**
 * Notes that the message of a night is not sent on this way any more, with why it was not sent, and that it may have
 * been sent where the last try did not say. One that was sent stays so.
 */
export async function closeNightMessage(
  deps: ActivityDeps,
  { night, channel, isUnanswered = false }: CloseNightMessageInput,
): Promise<void> {
  const run = await deps.nights.run(night);
  const last = run?.messages.find((note) => note.channel === channel);
  if (run === null || last?.state === 'sent' || last?.state === 'refused') return;
  const noted = last?.detail ?? null;
  const detail = [noted, isUnanswered || noted === null ? UNANSWERED : null].filter((part) => part !== null).join(' ');
  await deps.nights.noteMessage(night, { channel, state: 'refused', at: deps.now(), detail });
}
