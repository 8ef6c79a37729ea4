import { closeSync, openSync, readSync } from 'node:fs';
import { LoteError } from '../../domain/errors.ts';
import { PROFILE_FILE_LIMITS } from '../../service-profile/check/read-profile-file.ts';

/**
 * The text of a profile's file; of one that is too long, enough to see that it is.
 * @throws LoteError `configuration-invalid` when it cannot be read.
 */
export function profileText(
  path: string,
  named: 'SERVICE_PROFILE' | 'SANDBOX_PROFILE' | 'FILE' = 'SERVICE_PROFILE',
): string {
  try {
    return readStart(path, PROFILE_FILE_LIMITS.bytes + 1);
  } catch (cause) {
    throw new LoteError(
      'configuration-invalid',
      `Reading the service profile: ${named} must name a readable file, found ${JSON.stringify(path)}.`,
      { cause },
    );
  }
}

function readStart(path: string, most: number): string {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(most);
    let length = 0;
    for (let read = -1; read !== 0 && length < most; length += read)
      read = readSync(file, bytes, length, most - length, null);
    return bytes.toString('utf8', 0, length);
  } finally {
    closeSync(file);
  }
}
