import type { MessageChannel, NightlyRunState } from './run-log.ts';

/** What a message tells of one nightly run. */
export interface NightOutcome {
  /** `2026-11-23`: the date under which the night has its page. */
  readonly date: string;
  readonly run: NightlyRunState;
}

/** Sends the message of a night to those who look after it. */
export interface NightMessages {
  /** The ways that are configured; none: nobody is told. */
  readonly channels: readonly MessageChannel[];
  /**
   * Sends it once; whoever sends it again after a lost answer sends the same id. Returns what is wrong although it was
   * taken; null: nothing.
   * @throws LoteError `message-unsent` when it may be taken later, `message-refused` when it will not
   */
  send(channel: MessageChannel, night: NightOutcome): Promise<string | null>;
}
