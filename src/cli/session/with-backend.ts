import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { LoteError } from '../../domain/errors.ts';
import type { Ledger } from '../../domain/ports/ledger/ledger.ts';
import type { Config } from '../../runtime/config/config.ts';
import { dataDirAt, openDataDir } from '../../runtime/data-dir/data-dir.ts';
import { besideOwner, ownerAt, readEndpoints } from '../../runtime/data-dir/endpoints-file.ts';
import { createLogger } from '../../runtime/process/logger.ts';
import { leaveSoon } from '../../runtime/process/shutdown.ts';
import { connectClient, placeOf } from '../../wiring/temporal/connect-client.ts';
import { startEmbedded } from '../../wiring/start/embedded.ts';
import { openLedger } from '../../wiring/account/open-ledger.ts';
import { findOwner, type OwnerApi } from '../../wiring/operator/owner-api.ts';
import { workerScope, queuePollers } from '../../wiring/temporal/queue-pollers.ts';
import { requireListedWorker } from '../../wiring/temporal/require-live-worker.ts';
import { settledCount } from '../../domain/outcome-counts.ts';
import { settledCountIn } from './settled-count-in.ts';
import { chosenApplication, type ChosenApplication } from './chosen-application.ts';
import { batchNotFound } from './batch-not-found.ts';
import { interruption, type Interruption } from './interruption.ts';
import { quietLevel } from './log-level.ts';
import { ownerGone } from './owner-gone.ts';
import { preflight, preflightOf } from './preflight.ts';
import { lineWriter } from '../output/terminal-text.ts';

/** The process that does the work, and how this one speaks to it. */
export interface Backend {
  readonly config: Config;
  readonly client: Client;
  readonly ledgerId: string;
  /** Null: another process of this machine has the ledger. */
  readonly ledger: Ledger | null;
  readonly reportsDir: string;
  readonly settledCount: (batchId: string) => Promise<number>;
  /** Id of the workflow that has, or had, the batch. @throws LoteError `batch-not-found`, naming the ids that may have been meant */
  readonly workflowOf: (batchId: string) => Promise<string>;
  /** Rejects at Ctrl-C, and when the part that does the work is lost. */
  readonly ended: Promise<never>;
}

/** Options of a command that needs a backend. */
export interface BackendCommand {
  /** `--application`; left out: there is one. */
  readonly application?: string;
  readonly json: boolean;
  readonly env: NodeJS.ProcessEnv;
}

/** Among the newest of them is the one that was meant. */
const BATCHES_NAMED = 50;
const OWNER_PATIENCE_MS = 60_000;
const POLL_INTERVAL_MS = 250;
const INTERRUPTED = 'Interrupted: what was begun goes on where a worker runs, or with the next command.';

/** Workers elsewhere, the owner of the data directory, or everything in this process: whichever there is. */
export async function withBackend<T>(command: BackendCommand, work: (backend: Backend) => Promise<T>): Promise<T> {
  const chosen = chosenApplication(command.env, command.application ?? null);
  const { config } = chosen;
  const interrupt = interruption(INTERRUPTED, () => undefined);
  try {
    if (config.databaseUrl !== null && config.temporal.address !== null) {
      return await withWorkers(config, interrupt, work);
    }
    return await withEmbedded(chosen, { ...command, interrupt }, work);
  } finally {
    interrupt.end();
  }
}

async function withWorkers<T>(
  given: Config,
  interrupt: Interruption,
  work: (backend: Backend) => Promise<T>,
): Promise<T> {
  const owner = ownerAt(given.temporal, await readEndpoints(dataDirAt(given.dataDir)));
  const config = besideOwner(given, owner);
  const { temporal, taskQueue, reportsDir } = config;
  const ledger = await openLedger({ databaseUrl: config.databaseUrl, directory: config.dataDir });
  try {
    const client = await connectClient(await placeOf(temporal.address ?? '', temporal), temporal.namespace);
    try {
      await requireListedWorker({
        taskQueue,
        scope: workerScope(ledger.id, config),
        pollers: () => queuePollers(client, taskQueue),
        pause: (ms) => sleep(ms),
      });
      interrupt.begin();
      return await work({
        ...{ config, client, ledgerId: ledger.id, ledger, reportsDir },
        settledCount: (batchId) => settledCountIn(ledger, batchId),
        workflowOf: (batchId) => workflowInLedger(ledger, batchId),
        ended: interrupt.interrupted,
      });
    } finally {
      await client.connection.close();
    }
  } finally {
    await ledger.close();
  }
}

async function withEmbedded<T>(
  { config, embedded }: ChosenApplication,
  { json, env, interrupt }: BackendCommand & { readonly interrupt: Interruption },
  work: (backend: Backend) => Promise<T>,
): Promise<T> {
  const log = createLogger({ level: quietLevel(config, env), secrets: config.secrets });
  const notify = lineWriter({ json });
  const ask: Parameters<typeof startEmbedded>[0]['beforeHandOver'] = (service) => preflight(service, Date.now);
  for (let waited = 0; waited < OWNER_PATIENCE_MS; waited += POLL_INTERVAL_MS) {
    const stack = await startEmbedded({
      ...embedded,
      log,
      notify,
      env,
      beforeSending: preflightOf(config),
      beforeHandOver: ask,
      onWork: interrupt.begin,
      onForcedEnd: leaveSoon,
    });
    if (stack !== null) {
      const { client, ledger, lost } = stack;
      const ended = Promise.race([interrupt.interrupted, lost]);
      ended.catch(() => undefined);
      try {
        const backend = { config, client, ledgerId: ledger.id, ledger, reportsDir: config.reportsDir };
        return await work({
          ...backend,
          settledCount: (batchId) => settledCountIn(ledger, batchId),
          workflowOf: (batchId) => workflowInLedger(ledger, batchId),
          ended,
        });
      } finally {
        stack.handOver.refuse();
        await stack.stop();
      }
    }
    const owner = await findOwner(await openDataDir(embedded.config.dataDir));
    if (owner !== null) return withOwner(owner, { config, interrupt }, work);
    await sleep(POLL_INTERVAL_MS);
  }
  throw new LoteError(
    'data-directory-owned',
    `Another process owns ${embedded.config.dataDir} and has not published its addresses within ${OWNER_PATIENCE_MS / 1000} s. Try again in a moment.`,
  );
}

async function withOwner<T>(
  owner: OwnerApi,
  { config, interrupt }: { readonly config: Config; readonly interrupt: Interruption },
  work: (backend: Backend) => Promise<T>,
): Promise<T> {
  const { temporalAddress, temporalNamespace, ledgerId, reportsDir } = owner.endpoints;
  // One that has stopped still listens, and its Temporal server takes work for it: nobody would see that this work waits.
  await owner.batches(1);
  const client = await connectClient(await placeOf(temporalAddress, config.temporal), temporalNamespace);
  const done = new AbortController();
  const ended = Promise.race([interrupt.interrupted, ownerGone(owner, done.signal)]);
  ended.catch(() => undefined);
  try {
    interrupt.begin();
    return await work({
      ...{ config: besideOwner(config, owner.endpoints), client, ledgerId, ledger: null, reportsDir },
      settledCount: async (batchId) => settledCount((await owner.batch(batchId))?.counts ?? {}),
      workflowOf: (batchId) =>
        workflowOfKnown(
          batchId,
          () => owner.batch(batchId),
          () => owner.batches(BATCHES_NAMED),
        ),
      ended,
    });
  } finally {
    done.abort();
    await client.connection.close();
  }
}

function workflowInLedger(ledger: Ledger, batchId: string): Promise<string> {
  return workflowOfKnown(
    batchId,
    () => ledger.findBatch(batchId),
    () => ledger.listBatches(BATCHES_NAMED),
  );
}

async function workflowOfKnown(
  batchId: string,
  find: () => Promise<{ readonly workflowId?: string | undefined } | null>,
  list: () => Promise<readonly { readonly batchId: string }[]>,
): Promise<string> {
  const found = await find();
  if (found === null) throw batchNotFound(batchId, await list());
  // An owner of an older Lote does not say it; the first run of a file has the id of its batch.
  return found.workflowId ?? batchId;
}
