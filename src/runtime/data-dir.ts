import { access, constants, mkdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { LoteError } from '../domain/errors.ts';

/** It holds names and tax numbers: nobody else on the machine reads it. */
const OWNER_ONLY = 0o700;

/** Where each thing of a data directory lives. */
export interface DataDir {
  /** Real path: two names of one directory are one directory. */
  readonly path: string;
  readonly ledger: string;
  readonly sandbox: string;
  readonly endpoints: string;
}

/**
 * Makes the data directory when it is missing.
 * @throws LoteError `configuration-invalid` when it cannot be made or written.
 */
export async function openDataDir(directory: string): Promise<DataDir> {
  try {
    await mkdir(directory, { recursive: true, mode: OWNER_ONLY });
    await access(directory, constants.R_OK | constants.W_OK | constants.X_OK);
    return dataDirAt(await realpath(directory));
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unusable';
    throw new LoteError(
      'configuration-invalid',
      `Opening the data directory: LOTE_DATA_DIR must be a directory that can be made and written; found ${directory} (${code}).`,
      { cause },
    );
  }
}

function dataDirAt(path: string): DataDir {
  return {
    path,
    ledger: join(path, 'ledger'),
    sandbox: join(path, 'sandbox'),
    endpoints: join(path, 'endpoints.json'),
  };
}
