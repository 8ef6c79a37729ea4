import type { Client } from '@temporalio/client';
import { repeat, type Repetition } from '../../concurrency/repeat.ts';
import { LoteError } from '../../domain/errors.ts';
import { certificateValidity } from '../../runtime/temporal/certificate-validity.ts';
import type { TemporalPlace } from '../../runtime/temporal/temporal-connection.ts';
import { findNamespace } from './connect-client.ts';
import { isRenewed, type ReadAccess } from './renewed-access.ts';

const ASK_EVERY_MS = 5_000;
const PATIENCE_MS = 3_000;

interface WatchLog {
  warn(message: string, fields?: Record<string, unknown>): void;
}

/** What the server says of the client's namespace: one question, without the SDK's own patience. @throws whatever the connection says */
function askTemporal(client: Client): ReturnType<typeof findNamespace> {
  return client.connection.withDeadline(Date.now() + PATIENCE_MS, () => findNamespace(client));
}

/** One question to the server. @throws whatever the connection says, or LoteError `temporal-unavailable` without the namespace */
export async function queryTemporal(client: Client): Promise<void> {
  if ((await askTemporal(client)) === 'missing')
    throw new LoteError('temporal-unavailable', `Asking Temporal: it has no namespace ${client.options.namespace}.`);
}

const TROUBLE = {
  expired:
    'temporal does not answer, and the certificate that this process shows it has expired; work stands still until the file has a new one',
  away: 'temporal does not answer; work stands still until it does',
  // Search attributes and schedules are made by a start.
  'without namespace': 'temporal has no such namespace; work stands still: make it, then start this worker again',
} as const;

type TroubleKind = keyof typeof TROUBLE;

/** What a question found: the server's answer, or why none came. */
type Found = Awaited<ReturnType<typeof askTemporal>> | 'away' | 'expired';

/** Null: none that stops work. */
const TROUBLE_OF: Readonly<Record<Found, TroubleKind | null>> = {
  there: null,
  denied: null,
  missing: 'without namespace',
  away: 'away',
  expired: 'expired',
};

interface Trouble {
  readonly kind: TroubleKind;
  /** Epoch milliseconds. */
  readonly since: number;
}

/** A watch over the server. */
export interface TemporalWatch extends Repetition {
  /**
   * Rejects with LoteError `temporal-unavailable` when only another process can reach the server, with what the files of
   * its certificates and key hold now; never resolves.
   */
  readonly lost: Promise<never>;
}

/**
 * Says once when Temporal goes away, or loses the namespace, and once when it is back: the SDK's own lines repeat for each call, and it says nothing at
 * all of a namespace.
 */
export function watchTemporal(client: Client, access: ReadAccess, log: WatchLog): TemporalWatch {
  const { address } = access.place;
  let trouble = null as Trouble | null;
  return watch(access, async (stopped) => {
    const found = await askTemporal(client).catch(() => kindOfAbsence(access));
    if (stopped.aborted) return true;
    const kind = TROUBLE_OF[found];
    if (kind !== null && kind !== trouble?.kind) {
      trouble = { kind, since: trouble?.since ?? Date.now() };
      log.warn(TROUBLE[kind], { address, namespace: client.options.namespace });
    }
    if (kind === null && trouble !== null) {
      log.warn('temporal answers again', { address, awaySeconds: Math.round((Date.now() - trouble.since) / 1_000) });
      trouble = null;
    }
    return isAnswered(found);
  });
}

/**
 * Watches only whether this process must end because its certificate or key was renewed. For processes that work mostly
 * without Temporal, and say on their health page that it is away.
 */
export function watchAccess(client: Client, access: ReadAccess): TemporalWatch {
  return watch(access, async () => isAnswered(await askTemporal(client).catch(() => 'away' as const)));
}

function watch(access: ReadAccess, answers: (stopped: AbortSignal) => Promise<boolean>): TemporalWatch {
  let lose: (error: LoteError) => void = () => undefined;
  const lost = new Promise<never>((_, reject) => (lose = reject));
  // Whoever starts learns of it when it has started.
  lost.catch(() => undefined);
  const repetition = repeat(ASK_EVERY_MS, async (stopped) => {
    if (await answers(stopped)) return;
    if ((await isRenewed(access)) && !stopped.aborted) lose(renewed(access.place));
  });
  return { stop: () => repetition.stop(), lost };
}

/** A key that is revoked may be told that it has no right, and so may one that is good and has few. */
function isAnswered(found: Found): boolean {
  return found === 'there' || found === 'missing';
}

function kindOfAbsence({ place }: ReadAccess): 'away' | 'expired' {
  const validity = certificateValidity(place);
  return validity !== null && validity.to < Date.now() ? 'expired' : 'away';
}

function renewed({ address }: TemporalPlace): LoteError {
  return new LoteError(
    'temporal-unavailable',
    `Working with Temporal at ${address}: it no longer answers to the certificate or key that this process read when it started, and it answers to what their files hold now. ` +
      'A process reads them once, so this one ends: start it again, unless whatever supervises it does so.',
  );
}
