import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { LoteError } from '../../domain/errors.ts';
import { errorCode } from '../../file-system/error-code.ts';

/** More clients than this are more than one process was ever tried with. */
const MOST_APPLICATIONS = 1_000;

/** The folder of LOTE_APPLICATIONS_DIR and the files in it, one for each application. */
export interface ApplicationsFolder {
  readonly folder: string;
  readonly files: readonly string[];
}

/**
 * Null: there is no such folder, so that the environment describes the only application. A folder that is empty is a
 * mistake: a mount that is not there must not turn several accounts into one.
 * @throws LoteError `configuration-invalid`
 */
export function findApplications(
  set: Readonly<Record<string, string>>,
  workingDirectory: string,
): ApplicationsFolder | null {
  const meant = set['LOTE_APPLICATIONS_DIR'];
  const folder = resolve(workingDirectory, meant ?? 'applications');
  let names: readonly string[];
  try {
    names = readdirSync(folder).filter((name) => name.endsWith('.json') && !name.startsWith('.'));
  } catch (error) {
    if (errorCode(error) === 'ENOENT' && meant === undefined) return null;
    throw invalid(
      `LOTE_APPLICATIONS_DIR must be a readable folder; ${folder} could not be read (${errorCode(error)}).`,
    );
  }
  if (names.length > 0 && names.length <= MOST_APPLICATIONS)
    return { folder, files: names.toSorted().map((name) => join(folder, name)) };
  throw invalid(
    `LOTE_APPLICATIONS_DIR must hold 1 to ${MOST_APPLICATIONS} files whose names end with .json, one for each application; ${folder} has ${names.length}. Where the environment describes the only application, remove the folder.`,
  );
}

function invalid(problem: string): LoteError {
  return new LoteError('configuration-invalid', `Reading the applications: ${problem}`);
}
