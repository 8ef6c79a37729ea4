import { randomBytes } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { replaceFile } from '../../platform/files.ts';
import type { DataDir } from './data-dir.ts';
import { currentOwner } from './directory-lock.ts';

const Endpoints = z.object({
  /** The id in the lock of the data directory's owner. */
  owner: z.string().min(1),
  /** For people only: in another process namespace this number names another process, or none. */
  pid: z.number().int().positive(),
  console: z.url().nullable(),
  receiver: z.url().nullable(),
  sandbox: z.url().nullable(),
  /** host:port */
  temporalAddress: z.string().min(1),
  temporalNamespace: z.string().min(1),
  temporalUi: z.url().nullable(),
  /** Task queue of the owner's worker. */
  taskQueue: z.string().min(1),
  ledgerId: z.string().min(1),
  /** Where the owner writes its reports. */
  reportsDir: z.string().min(1),
});

/** The addresses of a running Lote, for a second process on its data directory. */
export type Endpoints = Readonly<z.infer<typeof Endpoints>>;

/** Only the account that runs Lote may read the owner's messages to other processes. */
const OWNER_ONLY = 0o600;

/** Writes the owner's addresses. */
export async function writeEndpoints(dataDir: Pick<DataDir, 'endpoints'>, endpoints: Endpoints): Promise<void> {
  const text = `${JSON.stringify(Endpoints.parse(endpoints), null, 2)}\n`;
  await replaceFile(dataDir.endpoints, text, OWNER_ONLY);
}

/** Returns the owner's addresses. Returns null when no process owns the directory, even if a dead owner left its file. */
export async function readEndpoints(dataDir: Pick<DataDir, 'endpoints' | 'path'>): Promise<Endpoints | null> {
  const stored = await readFile(dataDir.endpoints, 'utf8')
    .then(
      (text) => Endpoints.parse(JSON.parse(text)),
      () => null,
    )
    .catch(() => null);
  return stored !== null && currentOwner(dataDir.path) === stored.owner ? stored : null;
}

/**
 * Returns the owner if it uses the Temporal server of these settings, or if they name none. A command of another
 * installation may run in this folder, with its own server and task queue.
 */
export function ownerAt(
  { address, namespace }: { readonly address: string | null; readonly namespace: string },
  owner: Endpoints | null,
): Endpoints | null {
  const isThere = address === null || (owner?.temporalAddress === address && owner.temporalNamespace === namespace);
  return isThere ? owner : null;
}

/** Gives a command the task queue of the owner's worker, whatever the command's environment says. */
export function besideOwner<C extends { readonly taskQueue: string }>(settings: C, owner: Endpoints | null): C {
  return owner === null ? settings : { ...settings, taskQueue: owner.taskQueue };
}

/** For a clean end. */
export async function removeEndpoints(dataDir: Pick<DataDir, 'endpoints'>): Promise<void> {
  await rm(dataDir.endpoints, { force: true });
}

const TOKEN_BYTES = 32;

/** Writes the token that other processes of this data directory send to the owner's console: `given`, or a new one. */
export async function writeConsoleToken(dataDir: Pick<DataDir, 'path'>, given: string | null): Promise<string> {
  const token = given ?? randomBytes(TOKEN_BYTES).toString('base64url');
  await replaceFile(tokenFile(dataDir), token, OWNER_ONLY);
  return token;
}

/** Returns null when no owner has written a token, or when this account may not read it. */
export async function readConsoleToken(dataDir: Pick<DataDir, 'path'>): Promise<string | null> {
  return readFile(tokenFile(dataDir), 'utf8').catch(() => null);
}

function tokenFile({ path }: Pick<DataDir, 'path'>): string {
  return join(path, 'console-token');
}
