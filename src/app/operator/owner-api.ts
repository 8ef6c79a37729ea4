import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { LoteError, type LoteErrorCode } from '../../domain/errors.ts';
import { waitingFor } from '../../platform/waiting-for.ts';
import { TOKEN_HEADER } from '../../console/http/guard.ts';
import type { Operations, ReadBatch, RunAnswer, RunRequest } from '../../console/operations.ts';
import type { ProfileMisfit } from '../../domain/profile-misfit.ts';
import { readConsoleToken, readEndpoints, type Endpoints } from '../data-dir/endpoints-file.ts';
import { openDataDir, type DataDir } from '../data-dir/data-dir.ts';
import { currentOwner } from '../data-dir/directory-lock.ts';

/** The owner first requests the service's list of merchants, which may take a minute. */
const RUN_TIMEOUT_MS = 90_000;
const READ_TIMEOUT_MS = 30_000;
/** A purge is one transaction over years of batches. */
const PURGE_TIMEOUT_MS = 280_000;
const LOOK_EVERY_MS = 250;
/** An owner publishes within seconds, but its first start may build a Temporal server. A dead owner's lock is free at once. */
const ADDRESS_PATIENCE_MS = 10 * 60_000;

/** Shown while a command waits for the process that has the data directory. */
const OWNER = 'the process that owns the data directory';

const Failure = z.object({ error: z.object({ code: z.string(), message: z.string() }) });

/** The owner of a data directory, as its other processes call it. */
export interface OwnerApi extends Operations {
  readonly endpoints: Endpoints;
  /** Returns true if the owner still owns the directory; a stopped owner does. */
  owns(): boolean;
  /** Returns true if the owner's addresses are in the file; a leaving owner first removes them. */
  isPublished(): Promise<boolean>;
  /** Starts batches in the owner's process. `over` ends the wait for the answer. */
  run(request: RunRequest, over: AbortSignal): Promise<RunAnswer>;
}

/** Either this process owns the data directory, or another process does. */
type TakenOrOwner<Own> = { readonly own: Own; readonly owner: null } | { readonly own: null; readonly owner: OwnerApi };

/**
 * Takes the data directory with `take`, which returns null if another process has it, or finds its owner. Waits for an
 * owner that is starting or leaving.
 * @throws LoteError `data-directory-owned` when the owner does not publish its addresses
 */
export async function takeOrAsk<Own>(
  dataDir: string,
  take: () => Promise<Own | null>,
  patienceMs = ADDRESS_PATIENCE_MS,
): Promise<TakenOrOwner<Own>> {
  const first = await take();
  if (first !== null) return { own: first, owner: null };
  return waitingFor(OWNER, async () => {
    const directory = await openDataDir(dataDir);
    for (let waited = 0; waited < patienceMs; waited += LOOK_EVERY_MS) {
      const owner = await findOwner(directory);
      if (owner !== null) return { own: null, owner };
      await sleep(LOOK_EVERY_MS);
      const own = await take();
      if (own !== null) return { own, owner: null };
    }
    throw new LoteError(
      'data-directory-owned',
      `Asking the owner of the data directory: another process owns ${dataDir} and has not published its addresses within ${patienceMs / 1_000} s. Nothing was done. Try again in a moment.`,
    );
  });
}

/**
 * Returns true if a command failed because its owner has left or is leaving: the owner's addresses or its lock are
 * gone. A leaving owner removes its addresses before it closes its console; a stopped owner does not answer either.
 */
export async function hasLeft(owner: OwnerApi, error: unknown): Promise<boolean> {
  const isInterrupted = error instanceof LoteError && error.code === 'interrupted';
  return !isInterrupted && !(await owner.isPublished());
}

/** Returns null when the owner has published no console address: it has no console, is starting, or is leaving. */
export async function findOwner(dataDir: DataDir): Promise<OwnerApi | null> {
  const endpoints = await readEndpoints(dataDir);
  const token = await readConsoleToken(dataDir);
  if (endpoints === null || endpoints.console === null || token === null) return null;
  return ownerApi(endpoints, { console: endpoints.console, token, dataDir });
}

interface OwnerEndpoint {
  readonly console: string;
  readonly token: string;
  readonly dataDir: DataDir;
}

function ownerApi(endpoints: Endpoints, endpoint: OwnerEndpoint): OwnerApi {
  const get = <T>(path: string): Promise<T> => ask(endpoint, path, { timeoutMs: READ_TIMEOUT_MS });
  return {
    endpoints,
    owns: () => currentOwner(endpoint.dataDir.path) === endpoints.owner,
    isPublished: async () => (await readEndpoints(endpoint.dataDir))?.owner === endpoints.owner,
    run: (request, over) => ask(endpoint, '/run', { timeoutMs: RUN_TIMEOUT_MS, work: request, over }),
    purge: (request) => ask(endpoint, '/purge', { timeoutMs: PURGE_TIMEOUT_MS, work: request }),
    rowsOfRefs: (request) => ask(endpoint, '/rows', { timeoutMs: READ_TIMEOUT_MS, work: request }),
    batches: async (limit) => (await get<{ batches: readonly ReadBatch[] }>(`/batches?limit=${limit}`)).batches,
    // Misfits only add a note to another answer, so a failure is ignored.
    misfits: async () =>
      (await get<{ misfits: readonly ProfileMisfit[] }>('/misfits').catch(() => ({ misfits: [] }))).misfits,
    search: (wish) => get(`/invoices?${new URLSearchParams({ ...wish }).toString()}`),
    async batch(batchId) {
      try {
        return await get<ReadBatch>(`/batches/${encodeURIComponent(batchId)}`);
      } catch (error) {
        if (error instanceof LoteError && error.code === 'batch-not-found') return null;
        throw error;
      }
    },
  };
}

/** Both ends use one list of operations, which gives the answer its type. `work` is POSTed. */
async function ask<T>(
  { console, token }: OwnerEndpoint,
  path: string,
  { timeoutMs, work, over }: { readonly timeoutMs: number; readonly work?: object; readonly over?: AbortSignal },
): Promise<T> {
  const timeout = AbortSignal.timeout(timeoutMs);
  /** Also covers a stopped owner; the caller can check whether it still owns the data directory. */
  const giveUp = (cause: unknown): never => {
    const failure = (cause as { readonly cause?: { readonly syscall?: string } }).cause;
    const isHeard = work !== undefined && failure?.syscall !== 'connect';
    const next = isHeard
      ? 'It may do what was asked all the same: look with `lote status` before you repeat the command.'
      : 'Nothing was opened or changed. That process may be stopped or busy, or run in another container or network namespace: run the command there, or stop it first.';
    throw new LoteError(
      'owner-leaving',
      `Asking the owner of the data directory: nothing answers at ${console} within ${timeoutMs / 1_000} s. ${next}`,
      { cause },
    );
  };
  const init = {
    method: work === undefined ? 'GET' : 'POST',
    body: work === undefined ? null : JSON.stringify(work),
    headers: { [TOKEN_HEADER]: token, 'content-type': 'application/json' },
    signal: over === undefined ? timeout : AbortSignal.any([timeout, over]),
  };
  const answer = await waitingFor(OWNER, () => fetch(`${console}/api${path}`, init).catch(giveUp));
  const read = answer.json() as Promise<unknown>;
  // An answer that is cut off is unknown; an error may have no body.
  const told = await read.catch((cause: unknown) => (answer.ok ? giveUp(cause) : null));
  if (answer.ok) return told as T;
  const failure = Failure.safeParse(told);
  throw failure.success
    ? new LoteError(failure.data.error.code as LoteErrorCode, failure.data.error.message)
    : new LoteError('internal', `Asking the owner of the data directory: its console answered ${answer.status}.`);
}
