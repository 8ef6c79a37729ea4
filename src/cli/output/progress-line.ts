import { timeLeft } from './time-left.ts';
import type { BatchProgress } from '../../contract/messages.ts';
import { plainText } from '../../texts/plain-text.ts';

/** Long enough to smooth out slices and pages, short enough to follow a service that slows down. */
const WINDOW_MS = 20_000;
/** A rate of the first moments says nothing. */
const SHORTEST_MS = 2_000;

interface ThroughputMeter {
  /** Settled invoices a second over the last 20 s. `now` is in epoch milliseconds; null: too early to say. */
  rate(now: number, done: number): number | null;
}

/** Measures how fast the number of settled invoices rises. */
function createThroughputMeter(): ThroughputMeter {
  let seen: { readonly at: number; readonly done: number }[] = [];
  return {
    rate(now, done) {
      // A retry lets some go again: then the count falls, and what was seen before says nothing.
      if (seen.some((one) => one.done > done)) seen = [];
      seen.push({ at: now, done });
      while ((seen[1]?.at ?? now) <= now - WINDOW_MS) seen.shift();
      const [first] = seen;
      if (first === undefined || now - first.at < SHORTEST_MS) return null;
      return ((done - first.done) * 1_000) / (now - first.at);
    },
  };
}

interface Style {
  readonly green: (text: string) => string;
  readonly yellow: (text: string) => string;
}

/** Colours where a person looks and did not ask to do without (https://no-color.org: any value but an empty one). */
function styleOf({
  isTTY,
  env,
}: {
  readonly isTTY: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
}): Style {
  const coloured = isTTY && (env['NO_COLOR'] ?? '') === '';
  const paint = (code: number) => (text: string) => (coloured ? `\u001B[${code}m${text}\u001B[39m` : text);
  return { green: paint(32), yellow: paint(33) };
}

const BAR_WIDTH = 24;
/** Logs are read by people too: a line each time something changes its nature, else now and then. */
const PLAIN_EVERY_MS = 15_000;

/** What of a batch's progress is shown; `phase` may be any word. */
export type ShownProgress = Pick<BatchProgress, 'invoices' | 'paused' | 'waitingFor'> & { readonly phase: string };

/** One line of progress: at rest of all, how fast, how long still, and what is waited for. */
export interface ProgressLine {
  show(file: string, progress: ShownProgress, settledCount: number): void;
  /** Something else than progress, once until it changes. */
  say(text: string): void;
  end(): void;
}

/** What of a terminal is used. */
export interface ProgressPlace {
  readonly out: { readonly isTTY?: boolean; readonly columns?: number; write(text: string): unknown };
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly now: () => number;
}

/** A bar that redraws itself on a terminal; elsewhere plain lines, few enough for a log. */
export function progressLine({ out, env, now }: ProgressPlace = STDERR): ProgressLine {
  // A dumb terminal cannot take a line back.
  const redraws = out.isTTY === true && env['TERM'] !== 'dumb';
  const style = styleOf({ isTTY: redraws, env });
  const meters = new Map<string, ThroughputMeter>();
  let last = '';
  let drawn = false;
  let lastKind = '';
  let lastPlainAt = 0;

  function meterOf(file: string): ThroughputMeter {
    const meter = meters.get(file) ?? createThroughputMeter();
    meters.set(file, meter);
    return meter;
  }

  function write(text: string): void {
    if (text === last) return;
    last = text;
    drawn = true;
    out.write(redraws ? `\r\u001B[2K${text}` : `${text}\n`);
  }

  return {
    show(name, progress, settledCount) {
      const file = plainText(name);
      const rate = meterOf(file).rate(now(), settledCount);
      const view = { file, progress, settledCount, rate };
      if (redraws) {
        write(barLine(view, { columns: out.columns ?? 80, style }));
        return;
      }
      const kind = `${file} ${progress.phase} ${progress.paused} ${progress.waitingFor}`;
      if (kind === lastKind && now() - lastPlainAt < PLAIN_EVERY_MS) return;
      lastKind = kind;
      lastPlainAt = now();
      write(plainLine(view));
    },
    say: write,
    end() {
      if (redraws && drawn) out.write('\n');
      drawn = false;
      last = '';
    },
  };
}

const STDERR: ProgressPlace = { out: process.stderr, env: process.env, now: Date.now };

interface View {
  readonly file: string;
  readonly progress: ShownProgress;
  readonly settledCount: number;
  /** Invoices a second that came to rest lately; null: too early to say. */
  readonly rate: number | null;
}

function plainLine(view: View): string {
  return [`${view.file}: ${countOf(view)} at rest`, ...wordsOf(view)].join(', ');
}

/** Cut to the terminal's width: a line that wraps cannot be taken back. */
function barLine(view: View, { columns, style }: { readonly columns: number; readonly style: Style }): string {
  const { progress, settledCount } = view;
  const done = progress.invoices === 0 ? 0 : Math.min(settledCount / progress.invoices, 1);
  const filled = Math.round(done * BAR_WIDTH);
  const bar = `${'#'.repeat(filled)}${'-'.repeat(BAR_WIDTH - filled)}`;
  const before = `${view.file} [`;
  const after = `] ${[countOf(view), ...wordsOf(view)].join(', ')}`;
  const plain = `${before}${bar}${after}`;
  const room = Math.max(columns - 1, 20);
  if (plain.length > room) return `${plain.slice(0, room - 1)}…`;
  const paint = progress.paused || progress.waitingFor !== null ? style.yellow : style.green;
  return `${before}${paint(bar)}${after}`;
}

function countOf({ progress, settledCount }: View): string {
  return `${settledCount}/${progress.invoices}`;
}

function wordsOf({ file, progress, settledCount, rate }: View): readonly string[] {
  const { phase, paused, waitingFor, invoices } = progress;
  const stands = paused || waitingFor !== null;
  const moving = rate !== null && rate > 0 && !stands && settledCount < invoices;
  return [
    ...(moving
      ? [`${rate < 10 ? rate.toFixed(1) : Math.round(rate)}/s`, `${timeLeft((invoices - settledCount) / rate)} left`]
      : []),
    phase,
    ...(waitingFor === null ? [] : [`waits: ${waitingFor}`]),
    ...(paused ? ['PAUSED (resume it in the console or the Temporal UI)'] : []),
    ...(phase === 'confirming'
      ? [`HELD: its total is unusual (lote status ${file} says what to do; so do the console and the Temporal UI)`]
      : []),
  ];
}
