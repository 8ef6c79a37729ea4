import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { processStartTime } from './process-start-time.ts';
import { readJson, writeJson } from './write-json.ts';

const FILE = 'endpoints.json';

const Endpoints = z.object({
  /** The process that owns the data directory. */
  pid: z.number().int().positive(),
  /** Activities for another ledger are refused: a second process hands over work for this one. */
  ledgerId: z.string().min(1),
  /** host:port */
  temporalAddress: z.string().min(1),
  temporalUi: z.string().nullable(),
  receiver: z.string().nullable(),
  console: z.string().nullable(),
  sandbox: z.string().nullable(),
});

/** Where the parts of a running Lote listen, for the second process on its data directory. */
export type Endpoints = Readonly<z.infer<typeof Endpoints>>;

/** A pid is used again after a crash; with its start time it names one process. */
const StoredEndpoints = Endpoints.extend({ startTime: z.string() });

/** Replaces the file as a whole. */
export async function writeEndpoints(dataDir: string, endpoints: Endpoints): Promise<void> {
  const startTime = await processStartTime(endpoints.pid);
  await writeJson(join(dataDir, FILE), { ...endpoints, startTime });
}

/** The endpoints of an owner that lives; null when nobody runs here, also when one died and left its file. */
export async function readEndpoints(dataDir: string): Promise<Endpoints | null> {
  const stored = StoredEndpoints.safeParse(await readJson(join(dataDir, FILE)));
  if (!stored.success) return null;
  const { startTime, ...endpoints } = stored.data;
  return (await processStartTime(endpoints.pid)) === startTime ? endpoints : null;
}

/** For a clean end. */
export async function removeEndpoints(dataDir: string): Promise<void> {
  await rm(join(dataDir, FILE), { force: true });
}
