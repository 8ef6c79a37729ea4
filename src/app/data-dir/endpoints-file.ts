import { randomUUID } from 'node:crypto';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { z } from 'zod';
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

/** Replaces the file as a whole: its readers see it whole or not at all. */
export async function writeEndpoints(dataDir: Pick<DataDir, 'endpoints'>, endpoints: Endpoints): Promise<void> {
  const part = `${dataDir.endpoints}.${randomUUID()}.part`;
  await writeFile(part, `${JSON.stringify(Endpoints.parse(endpoints), null, 2)}\n`);
  await rename(part, dataDir.endpoints);
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
