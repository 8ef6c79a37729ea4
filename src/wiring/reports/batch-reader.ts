import { setTimeout as sleep } from 'node:timers/promises';
import { LoteError } from '../../domain/errors.ts';
import { countsByOutcome } from '../../domain/outcome-counts.ts';
import type { BatchRecord } from '../../domain/ports/ledger/batch-record.ts';
import type { Ledger } from '../../domain/ports/ledger/ledger.ts';
import type { SavedTotalCheck } from '../../domain/ports/ledger/total-ledger.ts';
import { ownZone } from '../../domain/time/own-zone.ts';
import type { Config } from '../../runtime/config/config.ts';
import type { Installation } from '../../runtime/config/installation.ts';
import { readEndpoints } from '../../runtime/data-dir/endpoints-file.ts';
import { openDataDir, type DataDir } from '../../runtime/data-dir/data-dir.ts';
import { acquireDirectoryLock } from '../../runtime/data-dir/directory-lock.ts';
import type { ProfileMisfit } from '../../domain/profile-misfit.ts';
import type { ServiceProfile } from '../../service-profile/profile.ts';
import { seenBy } from '../account/application-ledger.ts';
import { readProfile } from '../account/read-profiles.ts';
import { misfitsOfEach } from '../profile-fit/misfits-of-each.ts';
import { openLedger } from '../account/open-ledger.ts';
import type { StuckRun } from '../temporal/stuck/stuck-run.ts';
import { batchOutcomes, withShortfalls } from '../../domain/batch-outcomes.ts';
import { answerSearch, type SearchAnswer } from '../../console/search/answer-search.ts';
import { positionWord, readSearchQuery, type SearchWish, unreadableSearch } from '../../console/search/search-query.ts';
import { findOwner, type OwnerApi } from '../operator/owner-api.ts';

export type { SearchAnswer };

/** An owner that is just starting (its first start may build a Temporal server) or leaving: look again for this long. */
const PATIENCE_MS = 10 * 60_000;
const POLL_INTERVAL_MS = 250;

type Read = Pick<
  BatchRecord,
  'batchId' | 'file' | 'state' | 'rows' | 'rowsWithoutInvoice' | 'invoices' | 'revision' | 'startedAt' | 'finishedAt'
>;

/** A batch as a reader sees it. */
export interface ReadBatch extends Read {
  /** Its run in Temporal; an owner of an older Lote does not say it. */
  readonly workflowId?: string | undefined;
  /** Whose batch it is; an owner of an older Lote does not say it. */
  readonly application?: string | undefined;
  /** Present: its run does not go on. */
  readonly stuck?: StuckRun;
  /** Whether its total was compared; left out or null: nobody knows. */
  readonly total?: SavedTotalCheck | null | undefined;
  /** As in `FileShortfall`; an owner of an older Lote does not say it. */
  readonly rowsLost?: number | undefined;
  /** As in `FileShortfall`; an owner of an older Lote does not say it. */
  readonly totalsDiffer?: string | null | undefined;
  /** As in `FileShortfall`; an owner of an older Lote does not say it. */
  readonly contradicted?: number | undefined;
  /** As in `FileShortfall`; an owner of an older Lote does not say it. */
  readonly contradictedRefs?: readonly string[] | undefined;
  /** By outcome. */
  readonly counts: Readonly<Record<string, number>>;
}

/** Batches, read from wherever this process may read them. */
export interface BatchReader {
  /** Where the reports of these batches are written. */
  readonly reportsDir: string;
  /** False: this process holds the ledger itself, so that nobody works on it meanwhile. */
  readonly live: boolean;
  /** Where the runs of these batches are; null: nobody runs them at this moment. */
  readonly temporal: { readonly address: string; readonly namespace: string } | null;
  /** Newest first; null: of all applications. */
  list(limit: number, application?: string | null): Promise<readonly ReadBatch[]>;
  /** Null when the ledger does not know it. */
  find(batchId: string): Promise<ReadBatch | null>;
  /** Invoices of all batches. @throws LoteError `usage` for fields that are no search */
  search(fields: SearchWish): Promise<SearchAnswer>;
  /** What does not fit the service profile. */
  misfits(): Promise<readonly ProfileMisfit[]>;
  /** Whether whom it asks has left, or is about to: its addresses or its lock are gone. */
  hasLeft(): Promise<boolean>;
  close(): Promise<void>;
}

/**
 * Does `work` with a reader, and again with another one when the owner that it asked has left: the ledger is then read here, or through the next owner.
 * `work` must be safe to repeat.
 * @throws LoteError as `openBatchReader` and `work` do.
 */
export async function withBatchReader<T>(
  installation: Installation,
  work: (reader: BatchReader) => Promise<T>,
): Promise<T> {
  for (;;) {
    const reader = await openBatchReader(installation);
    try {
      return await work(reader);
    } catch (error) {
      const isLeaving = error instanceof LoteError && error.code === 'owner-leaving';
      // An owner that was stopped does not answer either, and has not left.
      if (!isLeaving || !(await reader.hasLeft())) throw error;
    } finally {
      await reader.close();
    }
    await sleep(POLL_INTERVAL_MS);
  }
}

/**
 * The shared ledger; or the embedded one, by itself when nobody has it, else through the process that does.
 * @throws LoteError `data-directory-owned` when the owner does not tell where its console is.
 */
async function openBatchReader(installation: Installation): Promise<BatchReader> {
  const { common: config } = installation;
  const { databaseUrl, reportsDir } = config;
  if (databaseUrl !== null) {
    const ledger = await openLedger({ databaseUrl, directory: config.dataDir });
    const { address, namespace } = config.temporal;
    const temporal = address === null ? null : { address, namespace };
    const misfits = misfitsOf(installation, ledger);
    return ofLedger(ledger, { reportsDir, misfits, live: true, temporal, close: () => ledger.close() });
  }
  const dataDir = await openDataDir(config.dataDir);
  for (let waited = 0; waited < PATIENCE_MS; waited += POLL_INTERVAL_MS) {
    const lock = await acquireDirectoryLock(dataDir.path);
    if (lock !== null) {
      const ledger = await openLedger({ databaseUrl, directory: dataDir.ledger });
      const close = async (): Promise<void> => {
        await ledger.close();
        await lock.release();
      };
      return ofLedger(ledger, {
        reportsDir,
        misfits: misfitsOf(installation, ledger),
        live: false,
        temporal: null,
        close,
      });
    }
    const owner = await findOwner(dataDir);
    if (owner !== null) return ofOwner(owner, dataDir);
    await sleep(POLL_INTERVAL_MS);
  }
  throw new LoteError(
    'data-directory-owned',
    `Reading batches: another process owns ${config.dataDir} and has not published the address of its console within ${PATIENCE_MS / 60_000} minutes. Try again in a moment, or look at the Temporal UI.`,
  );
}

/** Nothing of an application whose profile itself is wrong: then nothing was started with it. */
function misfitsOf({ applications }: Installation, ledger: Ledger): () => Promise<readonly ProfileMisfit[]> {
  return async () => {
    const accounts = applications.flatMap((config) => {
      const profile = readableProfile(config);
      const baseUrl = config.service.kind === 'remote' ? config.service.baseUrl : null;
      return profile === null ? [] : [{ config, profile, ledger: seenBy(config, ledger), baseUrl }];
    });
    return misfitsOfEach(accounts);
  };
}

function readableProfile(config: Config): ServiceProfile | null {
  try {
    return readProfile(config);
  } catch {
    return null;
  }
}

function ofOwner(owner: OwnerApi, dataDir: DataDir): BatchReader {
  return {
    reportsDir: owner.endpoints.reportsDir,
    live: true,
    temporal: { address: owner.endpoints.temporalAddress, namespace: owner.endpoints.temporalNamespace },
    list: (limit, application) => owner.batches(limit, application),
    find: (batchId) => owner.batch(batchId),
    misfits: () => owner.misfits(),
    search: (fields) => owner.search(fields),
    hasLeft: async () => !owner.owns() || (await readEndpoints(dataDir))?.owner !== owner.endpoints.owner,
    close: () => Promise.resolve(),
  };
}

function ofLedger(
  ledger: Ledger,
  place: Pick<BatchReader, 'reportsDir' | 'live' | 'temporal' | 'misfits' | 'close'>,
): BatchReader {
  async function withCounts(batches: readonly BatchRecord[]): Promise<readonly ReadBatch[]> {
    const read: ReadBatch[] = [];
    for (const { batch, shortfall } of await withShortfalls(ledger, batches)) {
      const counts = countsByOutcome(await batchOutcomes(ledger, batch.batchId));
      read.push({ ...batch, ...shortfall, counts, total: await ledger.totalCheck(batch.batchId) });
    }
    return read;
  }

  return {
    ...place,
    hasLeft: () => Promise.resolve(false),
    list: async (limit, application) => withCounts(await ledger.listBatches(limit, application)),
    async search(fields) {
      const query = readSearchQuery((name) => fields[name], ownZone());
      const result = await answerSearch(ledger, query);
      if (result === null) throw new LoteError('usage', unreadableSearch(query));
      return { ...result, next: result.next === null ? null : positionWord(result.next) };
    },
    async find(batchId) {
      const batch = await ledger.findBatch(batchId);
      return batch === null ? null : ((await withCounts([batch]))[0] ?? null);
    },
  };
}
