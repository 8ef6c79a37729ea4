import type { BatchProgress } from '../../domain/messages/messages.ts';
import { plainText } from '../../texts/fill.ts';

/** Long enough to smooth out slices and pages, short enough to follow a service that slows down. */
const WINDOW_MS = 20_000;
/** Lote shows no rate before this time: an early rate says nothing. */
const SHORTEST_MS = 2_000;
/** People read logs too: Lote writes a line each time the kind of progress changes, and otherwise at this interval. */
const PLAIN_EVERY_MS = 15_000;

/** The part of a batch's progress that the line shows; `phase` may be any word. */
type ShownProgress = Pick<BatchProgress, 'invoices' | 'paused' | 'waitingFor'> & { readonly phase: string };

/** One line of progress: settled invoices, rate, time left, and the reason for a wait. */
export type ProgressLine = ReturnType<typeof progressLine>;

/** The parts of a terminal that a progress line uses. */
export interface ProgressPlace {
  readonly out: { readonly isTTY?: boolean; readonly columns?: number; write(text: string): unknown };
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly now: () => number;
}

const STDERR: ProgressPlace = { out: process.stderr, env: process.env, now: Date.now };

/** Creates a line that redraws itself on a terminal. Elsewhere it writes plain lines, few enough for a log. */
export function progressLine({ out, env, now }: ProgressPlace = STDERR) {
  // A dumb terminal cannot erase a line.
  const redraws = out.isTTY === true && env['TERM'] !== 'dumb';
  let seen: { readonly file: string; readonly at: number; readonly done: number }[] = [];
  let last = '';
  let lastKind = '';
  let lastPlainAt = 0;

  /** Returns the settled invoices per second over the last 20 s, or null if it is too early to say. */
  function rateOf(file: string, done: number): number | null {
    // After a retry the settled count falls, and the earlier counts say nothing.
    if (seen.some((one) => one.file !== file || one.done > done)) seen = [];
    seen.push({ file, at: now(), done });
    while ((seen[1]?.at ?? now()) <= now() - WINDOW_MS) seen.shift();
    const [first] = seen;
    if (first === undefined || now() - first.at < SHORTEST_MS) return null;
    return ((done - first.done) * 1_000) / (now() - first.at);
  }

  function write(text: string): void {
    if (text === last) return;
    last = text;
    out.write(redraws ? `\r\u001B[2K${text}` : `${text}\n`);
  }

  return {
    show(name: string, progress: ShownProgress, settledCount: number): void {
      const file = plainText(name);
      const line = lineOf(file, progress, settledCount, rateOf(file, settledCount));
      if (redraws) return write(cut(line, (out.columns ?? 80) - 1));
      const kind = `${file} ${progress.phase} ${progress.paused} ${progress.waitingFor}`;
      if (kind === lastKind && now() - lastPlainAt < PLAIN_EVERY_MS) return;
      lastKind = kind;
      lastPlainAt = now();
      write(line);
    },
    /** Shows another text. The same text again is not shown a second time. */
    say: write,
    end(): void {
      if (redraws && last !== '') out.write('\n');
      last = '';
    },
  };
}

/** Cuts a line to the terminal's width: a wrapped line cannot be erased. */
function cut(line: string, columns: number): string {
  const room = Math.max(columns, 20);
  return line.length > room ? `${line.slice(0, room - 1)}…` : line;
}

function lineOf(file: string, progress: ShownProgress, settledCount: number, rate: number | null): string {
  const { phase, paused, waitingFor, invoices } = progress;
  const parts = [`${file}: ${settledCount}/${invoices} at rest`];
  if (rate !== null && rate > 0 && !paused && waitingFor === null && settledCount < invoices) {
    parts.push(`${rate < 10 ? rate.toFixed(1) : Math.round(rate)}/s`);
    parts.push(`${timeLeft((invoices - settledCount) / rate)} left`);
  }
  parts.push(phase);
  if (waitingFor !== null) parts.push(`waits: ${waitingFor}`);
  if (paused) parts.push('PAUSED (resume it in the console or the Temporal UI)');
  if (phase === 'confirming')
    parts.push(
      `HELD: its total is unusual (lote status ${file} says what to do; so do the console and the Temporal UI)`,
    );
  return parts.join(', ');
}

/** Formats a rough estimate as `8s`, `3m 20s` or `2h 5m`. */
function timeLeft(seconds: number): string {
  const whole = Math.max(1, Math.round(seconds));
  if (whole < 60) return `${whole}s`;
  if (whole < 3_600) return `${Math.floor(whole / 60)}m ${whole % 60}s`;
  return `${Math.floor(whole / 3_600)}h ${Math.floor((whole % 3_600) / 60)}m`;
}
