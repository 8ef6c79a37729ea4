import { readFileSync } from 'node:fs';
import { LoteError } from '../../domain/errors.ts';

/** A batch of thousands of invoices with everything embedded has up to 400 files and connections open. */
const LEAST_OPEN_FILES = 512;
const LIMIT = /^Max open files +(?<limit>\d+) /m;

/**
 * Refuses a limit of open files that a batch would meet in the middle: connections would fail there, and the runtime itself would abort. Node has
 * raised the limit as far as it may. Only Linux tells it.
 * @throws LoteError `configuration-invalid`
 */
export function requireOpenFiles(): void {
  const limit = LIMIT.exec(ownLimits())?.groups?.['limit'];
  if (limit === undefined || Number(limit) >= LEAST_OPEN_FILES) return;
  throw new LoteError(
    'configuration-invalid',
    `Starting Lote: this process must be able to have ${LEAST_OPEN_FILES} files and connections open at a time, found a limit of ${limit}. ` +
      'Raise it (ulimit -Hn, LimitNOFILE of systemd, --ulimit nofile of Docker), and start again.',
  );
}

function ownLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return '';
  }
}
