import { z } from 'zod';
import { LoteError, type LoteErrorCode } from '../domain/errors.ts';
import { TOKEN_HEADER } from '../console/guard.ts';
import type { RunAnswer, RunRequest } from '../console/console-options.ts';
import { readConsoleToken } from '../runtime/console-token.ts';
import type { DataDir } from '../runtime/data-dir.ts';
import { readEndpoints, type Endpoints } from '../runtime/endpoints.ts';

/** The owner first asks the service for its merchants, which may take a minute. */
const RUN_TIMEOUT_MS = 90_000;
const READ_TIMEOUT_MS = 30_000;

const Counts = z.record(z.string(), z.number());

const Batch = z.object({
  batchId: z.string(),
  file: z.string(),
  state: z.enum(['staging', 'refused', 'running', 'paused', 'cancelled', 'finished']),
  rows: z.number(),
  rowsWithoutInvoice: z.number(),
  invoices: z.number(),
  revision: z.number(),
  startedAt: z.number(),
  finishedAt: z.number().nullable(),
  counts: Counts,
});

/** A batch as the owner's console tells it. */
export type OwnerBatch = Readonly<z.infer<typeof Batch>>;

const Batches = z.object({ batches: z.array(Batch) });
const Answer = z.object({
  batches: z.array(z.object({ batchId: z.string(), workflowId: z.string(), file: z.string() })),
});
const Failure = z.object({ error: z.object({ code: z.string(), message: z.string() }) });

/** The owner of a data directory, as another process of it speaks to it. */
export interface OwnerApi {
  readonly endpoints: Endpoints;
  run(request: RunRequest): Promise<RunAnswer>;
  batches(limit: number): Promise<readonly OwnerBatch[]>;
  /** Null when the ledger does not know it. */
  batch(batchId: string): Promise<OwnerBatch | null>;
}

/** Null when nobody has told where the owner's console is: none there, not up yet, or leaving. */
export async function findOwner(dataDir: DataDir): Promise<OwnerApi | null> {
  const endpoints = await readEndpoints(dataDir);
  const token = await readConsoleToken(dataDir);
  if (endpoints === null || endpoints.console === null || token === null) return null;
  return ownerApi(endpoints, { base: `${endpoints.console}/api`, token });
}

function ownerApi(endpoints: Endpoints, door: { base: string; token: string }): OwnerApi {
  return {
    endpoints,
    async run(request) {
      const init = { method: 'POST', body: JSON.stringify(request), headers: { 'content-type': 'application/json' } };
      return Answer.parse(await ask(door, '/run', { init, timeoutMs: RUN_TIMEOUT_MS }));
    },
    batches: async (limit) =>
      Batches.parse(await ask(door, `/batches?limit=${limit}`, { timeoutMs: READ_TIMEOUT_MS })).batches,
    async batch(batchId) {
      try {
        return Batch.parse(await ask(door, `/batches/${encodeURIComponent(batchId)}`, { timeoutMs: READ_TIMEOUT_MS }));
      } catch (error) {
        if (error instanceof LoteError && error.code === 'batch-not-found') return null;
        throw error;
      }
    },
  };
}

async function ask(
  { base, token }: { base: string; token: string },
  path: string,
  { init, timeoutMs }: { init?: RequestInit; timeoutMs: number },
): Promise<unknown> {
  const headers = { ...(init?.headers as Record<string, string> | undefined), [TOKEN_HEADER]: token };
  let answer: Response;
  try {
    answer = await fetch(`${base}${path}`, { ...init, headers, signal: AbortSignal.timeout(timeoutMs) });
  } catch (cause) {
    throw new LoteError('owner-leaving', 'Asking the owner of the data directory: its console does not answer.', {
      cause,
    });
  }
  const body: unknown = await answer.json().catch(() => null);
  if (answer.ok) return body;
  const failure = Failure.safeParse(body);
  throw failure.success
    ? new LoteError(failure.data.error.code as LoteErrorCode, failure.data.error.message)
    : new LoteError('internal', `Asking the owner of the data directory: its console answered ${answer.status}.`);
}
