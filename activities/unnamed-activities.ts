import { LoteError } from '../src/domain/errors.ts';
import type { Ledger } from '../src/domain/ports/ledger/ledger.ts';
import type { OwnedWork } from './assert-ownership.ts';
import type { ActivityDeps } from './deps.ts';
import { guarded } from './failure.ts';
import type { FoundApplication } from './find-application.ts';
import type { Activities } from './index.ts';

type AnyActivities = Record<keyof Activities, (input: OwnedWork) => Promise<unknown>>;

/**
 * The activities of work that names no application: of batches that began before there were several, and of workflows
 * that somebody started by hand. The ledger's row of the batch decides whose it is. Without a batch nobody can know,
 * and the work is refused. `applications`: the activities of each, by name. A workflow asks here whether its own is one of them.
 */
export function createUnnamedActivities(
  applications: ReadonlyMap<string, Activities>,
  ledger: Pick<Ledger, 'findBatch'>,
  { log, speech: { locale: language } }: Pick<ActivityDeps, 'log' | 'speech'>,
): AnyActivities {
  const names = [...applications.keys()];
  const [first] = applications.values();
  const ownerOf = async (work: OwnedWork): Promise<AnyActivities> => {
    const batch = work.batchId === undefined ? null : await ledger.findBatch(work.batchId);
    const owner = applications.get(batch?.application ?? '');
    if (owner === undefined) throw batch === null ? unnamed(names) : notHere(batch.application, names);
    return owner as AnyActivities;
  };
  const entries = Object.keys(first ?? {}).map((key) => {
    const name = key as keyof Activities;
    const find = guarded(name, log, ownerOf);
    return [name, async (work: OwnedWork) => (await find(work))[name](work)];
  });
  const findApplication = ({ application = '' }: OwnedWork): Promise<FoundApplication> =>
    Promise.resolve({ isHere: applications.has(application), language });
  return { ...Object.fromEntries(entries), findApplication } as AnyActivities;
}

function unnamed(names: readonly string[]): LoteError {
  return new LoteError(
    'application-missing',
    `This work must say which application it is for, for each has its own account; it names none. Nothing was sent. Start it again with "application" in its input: ${names.join(', ')}.`,
  );
}

function notHere(application: string, names: readonly string[]): LoteError {
  return new LoteError(
    'application-foreign',
    `This batch belongs to application "${application}", and this worker issues for ${names.join(', ')}. It waits for a worker that has a file for "${application}".`,
  );
}
