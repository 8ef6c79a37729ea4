import { LoteError } from '../../domain/errors.ts';
import { errorCode } from '../../file-system/error-code.ts';
import { FOLDER_MODE, makeFolder } from '../../file-system/make-folder.ts';
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
    await makeFolder(inputDir, FOLDER_MODE);
  } catch (error) {
    throw new LoteError(
      'folder-unusable',
      `Making the input folder ${inputDir} (${inputSetting({ isOneOfSeveral })}): it must be a folder, or a place where this process can make one, found ${errorCode(error) || 'another error'}. Make or mount it, or name another one.`,
      { cause: error },
    );
  }
}

/** What names the input folder of an application, for messages. */
export function inputSetting({ isOneOfSeveral }: Pick<Config, 'isOneOfSeveral'>): string {
  return isOneOfSeveral ? 'inputDir of its file' : 'LOTE_INPUT_DIR';
}
