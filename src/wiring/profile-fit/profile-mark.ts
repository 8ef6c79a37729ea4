import { createHash } from 'node:crypto';
import type { Config } from '../../runtime/config/config.ts';
import { profileText } from '../account/profile-text.ts';

const MARK_LENGTH = 8;

/**
 * A short text that differs between workers whose service profiles differ. It comes from the file as it is, so that
 * each version of Lote makes the same one; a file that cannot be read counts as empty. Null: one of several
 * applications, of which a host may lack the file.
 */
export function profileMark({
  isOneOfSeveral,
  serviceProfilePath: path,
}: Pick<Config, 'isOneOfSeveral' | 'serviceProfilePath'>): string | null {
  if (isOneOfSeveral) return null;
  const text = path === null ? null : textOf(path);
  return createHash('sha256').update(JSON.stringify(text)).digest('hex').slice(0, MARK_LENGTH);
}

function textOf(path: string): string {
  try {
    return profileText(path);
  } catch {
    return '';
  }
}
