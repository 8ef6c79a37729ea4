import { randomBytes } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { replaceFile } from '../../platform/files.ts';
import type { DataDir } from './data-dir.ts';
import { currentOwner } from './directory-lock.ts';

const Endpoints = z.object({
  /** The lock's word for who owns the data directory. */
  owner: z.string().min(1),
  /** For people: in another process namespace it names another process, or none. */
  pid: z.number().int().positive(),
  console: z.url().nullable(),
  receiver: z.url().nullable(),
  sandbox: z.url().nullable(),
  /** host:port */
  temporalAddress: z.string().min(1),
  temporalNamespace: z.string().min(1),
  temporalUi: z.url().nullable(),
  /** Of its worker. */
  taskQueue: z.string().min(1),
  ledgerId: z.string().min(1),
  /** Where the owner writes its reports. */
  reportsDir: z.string().min(1),
});

/** Where the parts of a running Lote listen, for the second process on its data directory. */
export type Endpoints = Readonly<z.infer<typeof Endpoints>>;

/** Only the account that runs Lote reads what the owner writes for other processes. */
const OWNER_ONLY = 0o600;

/** Writes down where the owner listens. */
export async function writeEndpoints(dataDir: Pick<DataDir, 'endpoints'>, endpoints: Endpoints): Promise<void> {
  const text = `${JSON.stringify(Endpoints.parse(endpoints), null, 2)}\n`;
  await replaceFile(dataDir.endpoints, text, OWNER_ONLY);
}

/** The endpoints of the owner; null when no process owns the directory, also when an owner died and left its file. */
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
 * The owner, where it works at the Temporal server of these settings, or they name none. A command of another installation may stand in its folder, with a
 * server and a task queue of its own.
 */
export function ownerAt(
  { address, namespace }: { readonly address: string | null; readonly namespace: string },
  owner: Endpoints | null,
): Endpoints | null {
  const isThere = address === null || (owner?.temporalAddress === address && owner.temporalNamespace === namespace);
  return isThere ? owner : null;
}

/** Settings of a command beside an owner, whose worker polls its own task queue, whatever the environment of the command says. */
export function besideOwner<C extends { readonly taskQueue: string }>(settings: C, owner: Endpoints | null): C {
  return owner === null ? settings : { ...settings, taskQueue: owner.taskQueue };
}

/** For a clean end. */
export async function removeEndpoints(dataDir: Pick<DataDir, 'endpoints'>): Promise<void> {
  await rm(dataDir.endpoints, { force: true });
}

const TOKEN_BYTES = 32;

/** The token with which other processes of this data directory speak to its owner's console; a fresh one per owner unless one was set. */
export async function writeConsoleToken(dataDir: Pick<DataDir, 'path'>, given: string | null): Promise<string> {
  const token = given ?? randomBytes(TOKEN_BYTES).toString('base64url');
  await replaceFile(tokenFile(dataDir), token, OWNER_ONLY);
  return token;
}

/** Null when no owner has written one, or this account may not read it. */
export async function readConsoleToken(dataDir: Pick<DataDir, 'path'>): Promise<string | null> {
  return readFile(tokenFile(dataDir), 'utf8').catch(() => null);
}

function tokenFile({ path }: Pick<DataDir, 'path'>): string {
  return join(path, 'console-token');
}
