import { LoteError } from '../../domain/errors.ts';
import { stay } from './stay.ts';

/** Ctrl-C of a command that would otherwise run to its own end. */
export interface Interruption {
  /** Rejects at the first Ctrl-C (or SIGTERM) after `begin`, with `interrupted`; never resolves. */
  readonly interrupted: Promise<never>;
  /** From here on there is work that must end in order. Before, the first signal ends the process at once. */
  begin(): void;
  /** The listeners go away. */
  end(): void;
}

/** First signal: the command leaves in order, exit code 130. Second: at once, after `leaveNow`. */
export function interruption(sentence: string, leaveNow: () => void): Interruption {
  const { over, begin, end } = stay(leaveNow);
  const interrupted = over.then(() => {
    throw new LoteError('interrupted', sentence);
  });
  interrupted.catch(() => undefined);
  return { interrupted, begin, end };
}
