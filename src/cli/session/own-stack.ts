import { leaveSoon } from '../../runtime/process/shutdown.ts';
import { startEmbedded } from '../../wiring/start/embedded.ts';
import type { EmbeddedOptions, Stack } from '../../wiring/start/embedded-stack.ts';
import { interruption, type Interruption } from './interruption.ts';

/** The parts of a data directory's owner, in a command that leaves when its work is done. */
export interface OwnStack {
  readonly stack: Stack;
  /** Ends in order what has begun since the worker polls. */
  readonly interrupt: Interruption;
}

/** Starts what a command that finds no owner runs itself; `sentence` says how it was interrupted. Null: another process owns the data directory. */
export async function startOwnStack(
  options: Omit<EmbeddedOptions, 'onWork' | 'onForcedEnd'>,
  sentence: string,
): Promise<OwnStack | null> {
  let stack: Stack | null = null;
  const interrupt = interruption(sentence, () => stack?.kill());
  try {
    stack = await startEmbedded({ ...options, onWork: interrupt.begin, onForcedEnd: leaveSoon });
  } finally {
    if (stack === null) interrupt.end();
  }
  return stack === null ? null : { stack, interrupt };
}
