import { setTimeout as sleep } from 'node:timers/promises';
import { waitingFor } from '../../platform/waiting-for.ts';
import { ledgerOperations, type Operations, type ReadBatch } from '../../console/operations.ts';
import { misfitsOf } from '../../domain/calibration-state.ts';
import { LoteError } from '../../domain/errors.ts';
import type { Config } from '../../app/config/config.ts';
import { openDataDir } from '../../app/data-dir/data-dir.ts';
import { acquireDirectoryLock } from '../../app/data-dir/directory-lock.ts';
import { besideOwner } from '../../app/data-dir/endpoints-file.ts';
import { openLedger } from '../../app/account/open-ledger.ts';
import { readProfile, profileDigestOf } from '../../app/account/read-profile.ts';
import { hasLeft, takeOrAsk, type OwnerApi } from '../../app/operator/owner-api.ts';
import { createPurge } from '../../app/operator/purge-batches.ts';
import type { Ledger } from '../../ledger/ledger.ts';

const ASK_AGAIN_MS = 250;

/**
 * The ledger access of a command. `own`: this process has the data directory, and no other process works on the ledger.
 * `owner`: another process has it and does what this process asks. `shared`: the ledger is in PostgreSQL.
 */
export interface Session {
  readonly place: 'own' | 'owner' | 'shared';
  /** Configuration of this command; beside an owner, with the owner's task queue and reports folder. */
  readonly config: Config;
  readonly operations: Operations;
}

/** Opens the ledger for this process. Returns null if another process has the embedded ledger. */
async function takeLedger({ databaseUrl, dataDir: path }: Config) {
  const dataDir = await openDataDir(path);
  const lock = databaseUrl === null ? await acquireDirectoryLock(dataDir.path) : undefined;
  if (lock === null) return null;
  try {
    const ledger = await openLedger({ databaseUrl, directory: dataDir.ledger });
    return {
      ledger,
      async close() {
        try {
          await ledger.close();
        } finally {
          await lock?.release();
        }
      },
    };
  } catch (error) {
    await lock?.release();
    throw error;
  }
}

/**
 * Does `work` with a session for a command that only needs the ledger. If the asked owner has left, Lote repeats `work`
 * with this process's own ledger or the next owner: `work` must be safe to repeat.
 * @throws LoteError `data-directory-owned` when the owner does not tell where its console is
 */
export async function withSession<T>(config: Config, work: (session: Session) => Promise<T>): Promise<T> {
  const place = config.databaseUrl === null ? 'own' : 'shared';
  for (;;) {
    const { own, owner } = await takeOrAsk(config.dataDir, () => takeLedger(config));
    try {
      return await work(own === null ? besideOwnerOf(config, owner) : { ...ownLedger(config, own.ledger), place });
    } catch (error) {
      if (owner === null || !(await hasLeft(owner, error))) throw error;
    } finally {
      await own?.close();
    }
    await sleep(ASK_AGAIN_MS);
  }
}

/** Opens the ledger for a command that must have an embedded ledger alone. `title` names the action. @throws LoteError `data-directory-owned` */
export async function withOwnLedger<T>(config: Config, title: string, use: (ledger: Ledger) => Promise<T>): Promise<T> {
  const own = await takeLedger(config);
  if (own === null)
    throw new LoteError(
      'data-directory-owned',
      `${title}: another process owns ${config.dataDir} and is using it. Stop that process first.`,
    );
  try {
    return await waitingFor('the ledger', () => use(own.ledger));
  } finally {
    await own.close();
  }
}

/** Creates the part of a session that uses a ledger which this process opened. */
export function ownLedger(config: Config, ledger: Ledger): Pick<Session, 'config' | 'operations'> {
  return {
    config,
    operations: ledgerOperations(ledger, { misfits: misfitsIn(config, ledger), purge: createPurge(config, ledger) }),
  };
}

/** Creates a session beside the owner of the data directory. */
export function besideOwnerOf(config: Config, owner: OwnerApi): Session & { readonly place: 'owner' } {
  const { endpoints } = owner;
  const there = { ...besideOwner(config, endpoints), reportsDir: endpoints.reportsDir };
  return { place: 'owner', operations: owner, config: there };
}

/** Returns no misfits if the profile itself is wrong, because Lote then starts nothing with it. */
function misfitsIn(config: Config, ledger: Ledger): Operations['misfits'] {
  return async () => {
    try {
      return misfitsOf(await ledger.calibration(profileDigestOf(config, readProfile(config))));
    } catch (error) {
      if (error instanceof LoteError && error.code === 'configuration-invalid') return [];
      throw error;
    }
  };
}

/** Returns a batch that the ledger must know. @throws LoteError `batch-not-found` */
export async function requireBatch(operations: Pick<Operations, 'batch'>, batchId: string): Promise<ReadBatch> {
  const batch = await operations.batch(batchId);
  if (batch !== null) return batch;
  throw new LoteError(
    'batch-not-found',
    `The ledger knows no batch ${batchId}. \`lote status\` lists the batches it knows.`,
  );
}
