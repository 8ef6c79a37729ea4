import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { LoteError, type LoteErrorCode } from '../../domain/errors.ts';
import { TOKEN_HEADER } from '../../console/http/guard.ts';
import type { SearchAnswer } from '../../console/search/answer-search.ts';
import type { SearchWish } from '../../console/search/search-query.ts';
import { CONTRADICTIONS, OUTCOMES } from '../../domain/invoice-state.ts';
import type { PurgeRequest, RunAnswer, RunRequest } from '../../console/console-options.ts';
import type { Purged } from '../../domain/ports/ledger/purge-ledger.ts';
import { readConsoleToken } from '../../runtime/config/console-token.ts';
import type { DataDir } from '../../runtime/data-dir/data-dir.ts';
import { currentOwner } from '../../runtime/data-dir/directory-lock.ts';
import { readEndpoints, type Endpoints } from '../../runtime/data-dir/endpoints-file.ts';

/** The owner first asks the service for its merchants, which may take a minute. */
const RUN_TIMEOUT_MS = 90_000;
const READ_TIMEOUT_MS = 30_000;
/** A purge is one transaction over years of batches. */
const PURGE_TIMEOUT_MS = 280_000;
/** An owner that leaves closes its console after it has removed its addresses: one that is silent longer than this cannot be reached. */
const LISTEN_PATIENCE_MS = 5_000;
const LISTEN_EVERY_MS = 250;

const Counts = z.record(z.string(), z.number());

const Total = z.object({ invoices: z.number(), net: z.record(z.string(), z.string()) });
const compared = { batches: z.number(), factor: z.number(), usual: Total };

const TotalCheck = z.object({
  pattern: z.string(),
  total: Total,
  check: z.discriminatedUnion('kind', [
    z.object({ kind: z.enum(['off', 'declared', 'corrections']) }),
    z.object({ kind: z.literal('too-few'), batches: z.number(), needed: z.number() }),
    z.object({ kind: z.literal('usual'), ...compared }),
    z.object({ kind: z.literal('unusual'), ...compared, difference: z.string() }),
  ]),
  confirmedAt: z.number().nullable(),
});

const BatchStateName = z.enum(['staging', 'refused', 'running', 'paused', 'cancelled', 'finished']);

const Batch = z.object({
  batchId: z.string(),
  workflowId: z.string().optional(),
  application: z.string().optional(),
  file: z.string(),
  state: BatchStateName,
  rows: z.number(),
  rowsWithoutInvoice: z.number(),
  invoices: z.number(),
  revision: z.number(),
  startedAt: z.number(),
  finishedAt: z.number().nullable(),
  counts: Counts,
  /** An owner of an older Lote says none of these. */
  total: TotalCheck.nullable().optional(),
  rowsLost: z.number().optional(),
  totalsDiffer: z.string().nullable().optional(),
  contradicted: z.number().optional(),
  contradictedRefs: z.array(z.string()).optional(),
});

/** A batch as the owner's console tells it. */
export type OwnerBatch = Readonly<z.infer<typeof Batch>>;

const Batches = z.object({ batches: z.array(Batch) });
const Answer = z.object({
  batches: z.array(z.object({ batchId: z.string(), workflowId: z.string(), file: z.string() })),
});
const PurgeAnswer = z.object({
  batches: z.array(z.object({ batchId: z.string(), sha256: z.string() })),
  contents: z.number(),
  bodies: z.number(),
  findings: z.number(),
  deliveries: z.number(),
  // An owner of an older Lote does not say it.
  others: z.array(z.string()).default([]),
  staying: z.array(z.object({ batchId: z.string(), state: BatchStateName, invoices: z.number() })).default([]),
});
const Misfit = z.object({
  code: z.string(),
  message: z.string(),
  times: z.number(),
  firstAt: z.number(),
  lastAt: z.number(),
  application: z.string().optional(),
});
const Misfits = z.object({ misfits: z.array(Misfit) });

const Found = z.looseObject({
  batchId: z.string(),
  /** An owner of an older Lote does not say it. */
  application: z.string().optional(),
  file: z.string(),
  readAt: z.number(),
  ordinal: z.number(),
  ref: z.string(),
  merchantNif: z.string(),
  state: z.enum(OUTCOMES),
  net: z.string().nullable(),
  currency: z.string().nullable(),
  serviceId: z.string().nullable(),
  rows: z.array(z.number()),
  reason: z.object({ code: z.string(), message: z.string() }).nullable(),
  /** An owner of an older Lote says none of the two. */
  flags: z.array(z.string()).optional(),
  contradictions: z.array(z.enum(CONTRADICTIONS)).optional(),
});
const Search = z.object({
  found: z.array(Found),
  lookedAt: z.number(),
  backTo: z.number().nullable(),
  next: z.string().nullable(),
});

type OwnerMisfit = Readonly<z.infer<typeof Misfit>>;

const Failure = z.object({ error: z.object({ code: z.string(), message: z.string() }) });

/** The owner of a data directory, as another process of it speaks to it. */
export interface OwnerApi {
  readonly endpoints: Endpoints;
  /** Whether it owns the directory still; it does while it is stopped. */
  owns(): boolean;
  /** `over`: nobody waits for the answer any more. */
  run(request: RunRequest, over: AbortSignal): Promise<RunAnswer>;
  /** The owner purges, in its own process. */
  purge(request: PurgeRequest): Promise<Purged>;
  batches(limit: number, application?: string | null): Promise<readonly OwnerBatch[]>;
  /** Null when the ledger does not know it. */
  batch(batchId: string): Promise<OwnerBatch | null>;
  /** What does not fit the service profile; an owner of an older Lote does not say it. */
  misfits(): Promise<readonly OwnerMisfit[]>;
  /** @throws LoteError `usage` for fields that are no search */
  search(fields: SearchWish): Promise<SearchAnswer>;
}

/**
 * Null when nobody has told where the owner's console is: none there, not up yet, or leaving.
 * @throws LoteError `data-directory-owned` when the owner lives and nothing listens at the address that it told: it told a loopback
 * address, and in another network namespace (another container) that leads elsewhere.
 */
export async function findOwner(dataDir: DataDir): Promise<OwnerApi | null> {
  for (let waited = 0; ; waited += LISTEN_EVERY_MS) {
    const endpoints = await readEndpoints(dataDir);
    const token = await readConsoleToken(dataDir);
    if (endpoints === null || endpoints.console === null || token === null) return null;
    if (await listens(endpoints.console)) {
      return ownerApi(endpoints, { base: `${endpoints.console}/api`, token, directory: dataDir.path });
    }
    if (waited >= LISTEN_PATIENCE_MS) throw unreachable(dataDir, endpoints);
    await sleep(LISTEN_EVERY_MS);
  }
}

/** A stopped process still listens, by its kernel. */
async function listens(console: string): Promise<boolean> {
  const { hostname, port } = new URL(console);
  const socket = connect({ host: hostname.replace(/^\[|\]$/gu, ''), port: Number(port || 80) });
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(READ_TIMEOUT_MS) });
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

function unreachable({ path }: DataDir, { console, pid }: Endpoints): LoteError {
  return new LoteError(
    'data-directory-owned',
    `Asking the owner of the data directory: another process (${pid} where it runs) owns ${path}, and nothing answers at ` +
      `${console}, where its console listens. It may run in another container, or in another network namespace. Nothing was opened. ` +
      'Run the command there, or stop that process first.',
  );
}

function ownerApi(endpoints: Endpoints, endpoint: { base: string; token: string; directory: string }): OwnerApi {
  return {
    endpoints,
    owns: () => currentOwner(endpoint.directory) === endpoints.owner,
    async run(request, over) {
      return Answer.parse(await ask(endpoint, '/run', { init: posted(request), timeoutMs: RUN_TIMEOUT_MS, over }));
    },
    async purge({ application, ...request }) {
      const path = application === undefined ? '/purge' : `/applications/${encodeURIComponent(application)}/purge`;
      return PurgeAnswer.parse(await ask(endpoint, path, { init: posted(request), timeoutMs: PURGE_TIMEOUT_MS }));
    },
    batches: async (limit, application = null) => {
      const whose = application === null ? '' : `&application=${encodeURIComponent(application)}`;
      return Batches.parse(await ask(endpoint, `/batches?limit=${limit}${whose}`, { timeoutMs: READ_TIMEOUT_MS }))
        .batches;
    },
    async misfits() {
      const answer = Misfits.safeParse(
        await ask(endpoint, '/misfits', { timeoutMs: READ_TIMEOUT_MS }).catch(() => null),
      );
      return answer.success ? answer.data.misfits : [];
    },
    search: async (fields) =>
      Search.parse(
        await ask(endpoint, `/invoices?${new URLSearchParams({ ...fields }).toString()}`, {
          timeoutMs: READ_TIMEOUT_MS,
        }),
      ),
    async batch(batchId) {
      try {
        return Batch.parse(
          await ask(endpoint, `/batches/${encodeURIComponent(batchId)}`, { timeoutMs: READ_TIMEOUT_MS }),
        );
      } catch (error) {
        if (error instanceof LoteError && error.code === 'batch-not-found') return null;
        throw error;
      }
    },
  };
}

function posted(body: unknown): RequestInit {
  return { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
}

async function ask(
  { base, token }: { base: string; token: string },
  path: string,
  { init, timeoutMs, over }: { init?: RequestInit; timeoutMs: number; over?: AbortSignal },
): Promise<unknown> {
  const headers = { ...(init?.headers as Record<string, string> | undefined), [TOKEN_HEADER]: token };
  const timeout = AbortSignal.timeout(timeoutMs);
  const signal = over === undefined ? timeout : AbortSignal.any([timeout, over]);
  const isWork = init?.method === 'POST';
  const giveUp = (cause: unknown): never => unanswered(cause, { timeoutMs, isWork });
  const answer = await fetch(`${base}${path}`, { ...init, headers, signal }).catch(giveUp);
  const read = answer.json() as Promise<unknown>;
  // An answer that is cut off says nothing; an error may have no body.
  const body = await read.catch((cause: unknown) => (answer.ok ? giveUp(cause) : null));
  if (answer.ok) return body;
  const failure = Failure.safeParse(body);
  throw failure.success
    ? new LoteError(failure.data.error.code as LoteErrorCode, failure.data.error.message)
    : new LoteError('internal', `Asking the owner of the data directory: its console answered ${answer.status}.`);
}

/** `owner-leaving` also of an owner that is stopped: who asks can see whether it owns the data directory still. */
function unanswered(cause: unknown, { timeoutMs, isWork }: { timeoutMs: number; isWork: boolean }): never {
  const next = isWork
    ? 'It may do what was asked all the same: look with `lote status` before you repeat the command.'
    : 'It may be stopped, or busy; nothing was changed.';
  throw new LoteError(
    'owner-leaving',
    `Asking the owner of the data directory: its console must answer within ${timeoutMs / 1_000} s, and it does not. ${next}`,
    { cause },
  );
}
