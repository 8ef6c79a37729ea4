import { randomBytes, randomUUID } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DataDir } from '../data-dir/data-dir.ts';

const TOKEN_BYTES = 32;
/** A process that can read it can hand work over, so that only the account that runs Lote may read it. */
const OWNER_ONLY = 0o600;

/** The token with which other processes of this data directory speak to its owner's console; a fresh one per owner unless one was set. */
export async function writeConsoleToken(dataDir: Pick<DataDir, 'path'>, given: string | null): Promise<string> {
  const token = given ?? randomBytes(TOKEN_BYTES).toString('base64url');
  const part = join(dataDir.path, `.console-token-${randomUUID()}`);
  await writeFile(part, token, { mode: OWNER_ONLY, flag: 'wx' });
  await rename(part, fileOf(dataDir));
  return token;
}

/** Null when no owner has written one, or this account may not read it. */
export async function readConsoleToken(dataDir: Pick<DataDir, 'path'>): Promise<string | null> {
  return readFile(fileOf(dataDir), 'utf8').catch(() => null);
}

function fileOf({ path }: Pick<DataDir, 'path'>): string {
  return join(path, 'console-token');
}
