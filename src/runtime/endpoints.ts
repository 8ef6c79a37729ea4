import { rm } from 'node:fs/promises';
import { z } from 'zod';
import type { DataDir } from './data-dir.ts';
import { readJsonFile, writeJsonFile } from './json-file.ts';
import { isAlive } from './process-identity.ts';

/** Where the parts of a running Lote listen, for the second process on its data directory. */
export const Endpoints = z.object({
  /** The process that owns the data directory. */
  pid: z.number().int().positive(),
  startTime: z.string(),
  console: z.url().nullable(),
  receiver: z.url().nullable(),
  sandbox: z.url().nullable(),
  /** host:port */
  temporalAddress: z.string().min(1),
  temporalNamespace: z.string().min(1),
  temporalUi: z.url().nullable(),
});
export type Endpoints = Readonly<z.infer<typeof Endpoints>>;

/** Replaces the file as a whole. */
export async function writeEndpoints(dataDir: Pick<DataDir, 'endpoints'>, endpoints: Endpoints): Promise<void> {
  await writeJsonFile(dataDir.endpoints, Endpoints.parse(endpoints));
}

/** The endpoints of a process that lives; null when nobody runs here, also when one died without taking its file along. */
export async function readEndpoints(dataDir: Pick<DataDir, 'endpoints'>): Promise<Endpoints | null> {
  const endpoints = await readJsonFile(dataDir.endpoints, Endpoints);
  return endpoints !== null && (await isAlive(endpoints)) ? endpoints : null;
}

/** For a clean end. */
export async function removeEndpoints(dataDir: Pick<DataDir, 'endpoints'>): Promise<void> {
  await rm(dataDir.endpoints, { force: true });
}
