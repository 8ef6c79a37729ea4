import { rm } from 'node:fs/promises';
import { z } from 'zod';
import type { DataDir } from './data-dir.ts';
import { isAlive } from './process-identity.ts';
import { readJson, writeJson } from './write-json.ts';

const Endpoints = z.object({
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
  ledgerId: z.string().min(1),
  /** Where the owner writes its reports. */
  reportsDir: z.string().min(1),
});

/** Where the parts of a running Lote listen, for the second process on its data directory. */
export type Endpoints = Readonly<z.infer<typeof Endpoints>>;

/** Replaces the file as a whole. */
export async function writeEndpoints(dataDir: Pick<DataDir, 'endpoints'>, endpoints: Endpoints): Promise<void> {
  await writeJson(dataDir.endpoints, Endpoints.parse(endpoints));
}

/** The endpoints of an owner that lives; null when nobody runs here, also when one died and left its file. */
export async function readEndpoints(dataDir: Pick<DataDir, 'endpoints'>): Promise<Endpoints | null> {
  const stored = Endpoints.safeParse(await readJson(dataDir.endpoints));
  return stored.success && (await isAlive(stored.data)) ? stored.data : null;
}

/** For a clean end. */
export async function removeEndpoints(dataDir: Pick<DataDir, 'endpoints'>): Promise<void> {
  await rm(dataDir.endpoints, { force: true });
}
