import type { BatchProgress } from '../../workflows/messages.ts';

const BAR_WIDTH = 24;

/** One line of progress: at rest of all, and what is waited for. */
export interface ProgressLine {
  show(file: string, progress: BatchProgress, atRest: number): void;
  /** Something else than progress, once until it changes. */
  say(text: string): void;
  end(): void;
}

/** A bar that redraws itself on a terminal; elsewhere a plain line each time something changed. */
export function progressLine(out: NodeJS.WriteStream): ProgressLine {
  let last = '';
  function say(text: string): void {
    if (text === last) return;
    last = text;
    out.write(out.isTTY ? `\r\u001B[2K${text}` : `${text}\n`);
  }

  return {
    show: (file, progress, atRest) => say(lineOf(file, progress, atRest)),
    say,
    end() {
      if (out.isTTY && last !== '') out.write('\n');
    },
  };
}

function lineOf(file: string, progress: BatchProgress, atRest: number): string {
  const total = progress.invoices;
  const done = total === 0 ? 0 : Math.min(atRest / total, 1);
  const filled = Math.round(done * BAR_WIDTH);
  const bar = `${'#'.repeat(filled)}${'-'.repeat(BAR_WIDTH - filled)}`;
  const waits = progress.waitingFor === null ? '' : `, waits: ${progress.waitingFor}`;
  const paused = progress.paused ? ', PAUSED (resume it in the Temporal UI)' : '';
  return `${file} [${bar}] ${atRest}/${total} at rest, ${progress.phase}${waits}${paused}`;
}
