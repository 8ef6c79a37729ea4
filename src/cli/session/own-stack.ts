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

/** Does the work of a command on its own stack, which is taken down then. `ended` rejects at Ctrl-C, and when a part is lost for good. */
export async function onOwnStack<T>(
  { stack, interrupt }: OwnStack,
  work: (ended: Promise<never>) => Promise<T>,
): Promise<T> {
  const ended = Promise.race([interrupt.interrupted, stack.lost]);
  ended.catch(() => undefined);
  try {
    return await work(ended);
  } finally {
    stack.handOver.refuse();
    await stack.stop();
    interrupt.end();
  }
}
