import { folderTrouble } from '../file-system/folder-trouble.ts';

/**
 * Does something in the reports folder. Trouble of the folder (read-only, missing, full) has its own error code, so
 * that the caller waits.
 * @throws LoteError `folder-unusable`
 */
export async function inReportsFolder<T>(reportsDir: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    throw folderTrouble(error, { title: 'reports folder', path: reportsDir, variable: 'LOTE_REPORTS_DIR' });
  }
}
