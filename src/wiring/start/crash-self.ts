import { writeSync } from 'node:fs';

const STDERR = 2;

/** At a crash point: no handler runs, nothing is flushed. */
export function killSelf(): void {
  process.kill(process.pid, 'SIGKILL');
}

/** At a crash point: says so, and stands still until SIGCONT. Written without a buffer, for nothing of this process runs any more. */
export function stopSelf(point: string): void {
  writeSync(STDERR, `LOTE_CRASH_AT: stopped at ${point}\n`);
  process.kill(process.pid, 'SIGSTOP');
}
