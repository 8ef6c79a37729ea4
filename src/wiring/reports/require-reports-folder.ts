import type { Config } from '../../runtime/config/config.ts';
import { requireWritable } from '../../file-system/require-writable.ts';

/**
 * Whoever writes reports does not start where none can be written.
 * @throws LoteError `folder-unusable`
 */
export function requireReportsFolder({ reportsDir }: Pick<Config, 'reportsDir'>): Promise<void> {
  return requireWritable({ title: 'reports folder', path: reportsDir, variable: 'LOTE_REPORTS_DIR' });
}
