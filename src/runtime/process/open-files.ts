import { LoteError } from '../../domain/errors.ts';
import { openFilesLimit } from '../../network/open-files-limit.ts';

/** Those of a batch with everything embedded, and a hundred deliveries beside it. */
const LEAST_OPEN_FILES = 512;

/**
 * Refuses a limit of open files that a batch would meet in the middle: connections would fail there, and the runtime itself would abort. Node has
 * raised the limit as far as it may. Only Linux tells it.
 * @throws LoteError `configuration-invalid`
 */
export function requireOpenFiles(): void {
  const limit = openFilesLimit();
  if (limit === null || limit >= LEAST_OPEN_FILES) return;
  throw new LoteError(
    'configuration-invalid',
    `Starting Lote: this process must be able to have ${LEAST_OPEN_FILES} files and connections open at a time, found a limit of ${limit}. ` +
      'Raise it (ulimit -Hn, LimitNOFILE of systemd, --ulimit nofile of Docker), and start again.',
  );
}
