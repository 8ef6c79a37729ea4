import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { waitingFor } from '../../platform/waiting-for.ts';
import { LoteError } from '../../domain/errors.ts';
import { type Config, readConfig } from '../../app/config/config.ts';
import { createLogger } from '../../app/process/logger.ts';
import { openLedger } from '../../app/account/open-ledger.ts';
import { openService } from '../../app/account/open-service.ts';
import { readProfile } from '../../app/account/read-profile.ts';
import { createCommonFolders } from '../../app/folders/common-folders.ts';
import { startFile, type StartOptions } from '../../app/operator/hand-over.ts';
import { hasLeft, takeOrAsk, type OwnerApi } from '../../app/operator/owner-api.ts';
import { startOwner, type Owner, type OwnerStart } from '../../app/start/start-owner.ts';
import { requireListedWorker, workerScope } from '../../app/temporal/queue-pollers.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { lineWriter } from '../output/terminal-text.ts';
import type { FollowedBatch } from './follow-batches.ts';
import { INTERRUPTED, interruption, leaveSoon, type Interruption } from './interruption.ts';
import { besideOwnerOf, ownLedger, type Session } from './open-session.ts';
import { preflight } from './preflight.ts';
import { withTemporal } from './with-temporal.ts';

const LOOK_EVERY_MS = 500;

/** A session in which batches run: by this process, by the owner of the data directory, or by workers elsewhere. */
export interface WorkSession extends Session {
  /** Rejects at Ctrl-C, and when the part that does the work is lost. */
  readonly ended: Promise<never>;
  readonly client: Client;
  readonly ledgerId: string;
  /** All parts that this process runs. Missing if other processes do the work. */
  readonly stack?: Owner;
  /** The owner of the data directory. Missing if this process has the ledger. */
  readonly owner?: OwnerApi;
  /** Starts a batch for each file, or joins the run that has the file. @throws as `ended`, at once; Lote then starts no further batch */
  start(files: readonly string[], options: StartOptions): Promise<readonly FollowedBatch[]>;
}

/** Inputs of a command that runs batches or other work. */
export interface WorkCommand {
  readonly json: boolean;
  readonly env: NodeJS.ProcessEnv;
  /** Optional: the default is the configuration of `env`. */
  readonly config?: Config;
  /** Returns the message of an interrupted command. */
  readonly interrupted?: (place: Session['place']) => string;
  /** Runs when the process must leave at once. */
  readonly onLeaveNow?: () => void;
  /**
   * True if the command only starts files. Lote then repeats the command if the owner that did the work has left, and
   * asks the service itself before workers elsewhere get a file.
   */
  readonly startsFiles?: boolean;
  /** Settings of the built-in sandbox. If they are given, Lote asks the sandbox for nothing before the work begins. */
  readonly sandbox?: NonNullable<OwnerStart['sandbox']>;
}

interface Opening {
  readonly config: Config;
  readonly command: WorkCommand;
  readonly interrupt: Interruption;
}

type Work<T> = (session: WorkSession) => Promise<T>;

/** Does `work` with workers elsewhere, the owner of the data directory, or this process. */
export async function withWork<T>(command: WorkCommand, work: Work<T>): Promise<T> {
  const config = command.config ?? readConfig(command.env);
  const { startsFiles = false, interrupted = () => INTERRUPTED } = command;
  let place: Session['place'] = config.databaseUrl !== null && config.temporal.address !== null ? 'shared' : 'own';
  const interrupt = interruption(() => interrupted(place), command.onLeaveNow);
  const opening = { config, command, interrupt };
  try {
    if (place === 'shared') return await withWorkers(opening, work);
    for (;;) {
      const { own, owner } = await takeStack(opening);
      place = own === null ? 'owner' : 'own';
      if (owner === null) return await withStack(opening, own, work);
      try {
        return await withOwner(opening, owner, work);
      } catch (error) {
        if (!startsFiles || !(await hasLeft(owner, error))) throw error;
        lineWriter(command)('The process that owned the data directory has left; going on without it …');
      }
      // An owner that accepts no more work may need a moment to leave.
      await sleep(LOOK_EVERY_MS);
    }
  } finally {
    interrupt.end();
  }
}

/** Starts everything in this process, unless another process owns the data directory. */
function takeStack({ config, command, interrupt }: Opening) {
  const { env, sandbox } = command;
  const ask = sandbox === undefined ? preflight : () => Promise.resolve();
  // The parts' log lines would come between the lines for the person, so the default level is `warn`.
  const level = env['LOTE_LOG_LEVEL'] === undefined ? 'warn' : config.logLevel;
  return takeOrAsk(config.dataDir, () =>
    startOwner({
      config,
      env,
      sandbox,
      log: createLogger({ level, secrets: config.secrets }),
      notify: lineWriter(command),
      onWork: interrupt.begin,
      onForcedEnd: leaveSoon,
      beforeSending: ask,
      beforeHandOver: ask,
    }),
  );
}

async function withStack<T>({ config, interrupt }: Opening, stack: Owner, work: Work<T>): Promise<T> {
  const say = lineWriter({ json: false });
  const ended = eitherEnds(interrupt.interrupted, stack.lost);
  interrupt.interrupted.catch(() => say('Leaving: requests on the wire end first (Ctrl-C again leaves now) …'));
  try {
    return await work({ ...ownWork(config, stack, ended), place: 'own', stack });
  } finally {
    await stack.stop();
  }
}

async function withOwner<T>({ config, command, interrupt }: Opening, owner: OwnerApi, work: Work<T>): Promise<T> {
  // A stopped owner still listens, and its Temporal server accepts work: the person would not see that this work waits.
  await owner.batches(1);
  const done = new AbortController();
  const ended = eitherEnds(interrupt.interrupted, ownerGone(owner, done.signal));
  async function workWith(client: Client): Promise<T> {
    async function start(files: readonly string[], options: StartOptions): Promise<readonly FollowedBatch[]> {
      lineWriter(command)('Handing over to the process that owns the data directory …');
      const asked = owner.run({ files: files.map((file) => resolve(file)), options }, done.signal);
      const { batches } = await Promise.race([asked, ended]);
      return batches.map(({ batchId, workflowId }) => ({ batchId, handle: client.workflow.getHandle(workflowId) }));
    }
    interrupt.begin();
    const { ledgerId } = owner.endpoints;
    return work({ ...besideOwnerOf(config, owner), owner, client, ledgerId, ended, start });
  }
  try {
    return await withTemporal(config, workWith, owner.endpoints);
  } finally {
    done.abort();
  }
}

async function withWorkers<T>({ config: given, command, interrupt }: Opening, work: Work<T>): Promise<T> {
  const ledger = await openLedger({ databaseUrl: given.databaseUrl, directory: given.dataDir });
  try {
    return await withTemporal(given, async (client, config) => {
      await requireListedWorker(client, config.taskQueue, workerScope(ledger.id, config));
      if (command.startsFiles === true) {
        // Workers cannot read a file that only this machine sees.
        await createCommonFolders({ config, ledger })?.require('input');
        await queryService(config);
      }
      interrupt.begin();
      return work({ ...ownWork(config, { client, ledger }, interrupt.interrupted), place: 'shared' });
    });
  } finally {
    await ledger.close();
  }
}

/** Creates the part of a session that is the same wherever this process has the ledger. */
function ownWork(
  config: Config,
  { client, ledger }: { readonly client: Client; readonly ledger: Ledger },
  ended: Promise<never>,
): Omit<WorkSession, 'place'> {
  async function startEach(files: readonly string[], options: StartOptions): Promise<readonly FollowedBatch[]> {
    const over = new AbortController();
    ended.catch((reason: unknown) => over.abort(reason));
    const place = { config, client, ledgerId: ledger.id };
    const started: FollowedBatch[] = [];
    for (const file of files)
      started.push(await waitingFor('Temporal', () => startFile(place, file, options, over.signal)));
    return started;
  }
  const start: WorkSession['start'] = (files, options) => Promise.race([startEach(files, options), ended]);
  return { ...ownLedger(config, ledger), client, ledgerId: ledger.id, ended, start };
}

function eitherEnds(...ends: readonly Promise<never>[]): Promise<never> {
  const ended = Promise.race(ends);
  ended.catch(() => undefined);
  return ended;
}

/** Rejects when the owner has ended before `done`: its Temporal server may outlive the owner, and then no worker polls there. */
async function ownerGone(owner: OwnerApi, done: AbortSignal): Promise<never> {
  while (owner.owns()) {
    await sleep(LOOK_EVERY_MS, undefined, { ref: false });
    if (done.aborted) return new Promise(() => undefined);
  }
  throw new LoteError(
    'owner-leaving',
    'Waiting for the owner of the data directory: it has ended. The same command goes on where it stopped.',
  );
}

/** Asks the service if this client knows its address; otherwise the workers' own check must suffice. */
async function queryService(config: Config): Promise<void> {
  if (config.service.kind !== 'remote') return;
  const service = openService(config, config.service, readProfile(config));
  try {
    await preflight(service);
  } finally {
    await service.close();
  }
}
