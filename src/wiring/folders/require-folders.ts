import { LoteError } from '../../domain/errors.ts';
import { errorCode } from '../../file-system/error-code.ts';
import { makeFolder } from '../../file-system/make-folder.ts';
import { requireWritable } from '../../file-system/require-writable.ts';
import type { Config } from '../../runtime/config/config.ts';

/**
 * Whoever writes reports does not start where none can be written.
 * @throws LoteError `folder-unusable`
 */
export function requireReportsFolder({ reportsDir }: Pick<Config, 'reportsDir'>): Promise<void> {
  return requireWritable({ title: 'reports folder', path: reportsDir, variable: 'LOTE_REPORTS_DIR' });
}

/**
 * Makes the input folder when it is not there; it may be one that can only be read.
 * @throws LoteError `folder-unusable`
 */
export async function requireInputFolder({
  inputDir,
  isOneOfSeveral,
}: Pick<Config, 'inputDir' | 'isOneOfSeveral'>): Promise<void> {
  try {
    await makeFolder(inputDir, 0o777);
  } catch (error) {
    const setting = isOneOfSeveral ? 'inputDir of its file' : 'LOTE_INPUT_DIR';
    throw new LoteError(
      'folder-unusable',
      `Making the input folder ${inputDir} (${setting}): it must be a folder, or a place where this process can make one, found ${errorCode(error) || 'another error'}. Make or mount it, or name another one.`,
      { cause: error },
    );
  }
}
