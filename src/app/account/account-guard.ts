import { createHash } from 'node:crypto';
import { LoteError } from '../../domain/errors.ts';
import type { Config } from '../config/config.ts';
import type { ServiceProfile } from '../../service/profile/profile.ts';
import type { ServiceAccount } from './open-service.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { ServiceAccountRecord } from '../../ledger/sending/service-use.ts';

/** Stands for the address of the built-in sandbox, which may get another port at each start. */
export const BUILT_IN_SANDBOX = 'built-in sandbox';

/** Enough digits to see that a key changed, and too few to reveal the key. */
const FINGERPRINT_DIGITS = 16;

interface GuardedAccount {
  readonly ledger: Pick<Ledger, 'id'>;
  readonly application: string;
  /** Null means the built-in sandbox. */
  readonly account: ServiceAccount | null;
}

/** The configured account, and the ledger to compare it with. `now` is in epoch milliseconds. */
export interface AccountGuard extends GuardedAccount {
  readonly ledger: Pick<Ledger, 'id' | 'knownAccount' | 'rememberAccount' | 'confirmAccount'>;
  readonly profile: Pick<ServiceProfile, 'environment'>;
  readonly now: number;
}

/**
 * Requires that the ledger knows this account, or no account yet. A ledger has one service account per application:
 * sandbox invoices would count as issued and never be sent, and merchant ids of one account are unknown to another.
 * Lote does not remember an account that never answered, so a wrong account blocks no other.
 * @throws LoteError `interlock` when the ledger knows another account
 */
export async function requireKnownService(lock: AccountGuard): Promise<void> {
  requireMatchingKey(lock);
  const known = await lock.ledger.knownAccount(recordOf(lock));
  if (known !== null) await requireSame(lock, known);
}

/**
 * Binds the account to the application after the service has accepted the configured key.
 * @throws LoteError `interlock` when another process has bound another account first
 */
export async function rememberService(lock: AccountGuard): Promise<void> {
  requireMatchingKey(lock);
  await requireSame(lock, await lock.ledger.rememberAccount(recordOf(lock), lock.now));
}

async function requireSame(lock: AccountGuard, known: ServiceAccountRecord): Promise<void> {
  const account = recordOf(lock);
  if (known.application !== account.application) return forSecondApplication(lock, known.application);
  refuseMissing(lock, known, 'Connecting to the invoicing service');
  const changes = [
    ...(known.baseUrl === account.baseUrl ? [] : [`the address was ${known.baseUrl} and is ${account.baseUrl}`]),
    ...(known.keyFingerprint === account.keyFingerprint ? [] : ['the API key is another one']),
  ];
  if (changes.length === 0) return;
  throw new LoteError(
    'interlock',
    `Connecting application "${account.application}" to the invoicing service: it must be the one that this ledger has used so far, but ${changes.join(', and ')}. Nothing was sent. ` +
      `If it is another service or another account, use another LOTE_DATA_DIR (or DATABASE_URL) and another LOTE_REPORTS_DIR, or another LOTE_APPLICATION: what was issued there counts as issued here. ` +
      `If it is the same account under a new key or address, confirm it once: lote confirm-service`,
  );
}

/**
 * Two applications never share invoices, so a mistyped LOTE_APPLICATION would issue all of them again into the same
 * account. The built-in sandbox counts as no account.
 */
async function forSecondApplication(lock: AccountGuard, first: string): Promise<void> {
  if (lock.account === null) return lock.ledger.confirmAccount(recordOf(lock), lock.now);
  throw new LoteError(
    'interlock',
    `Connecting application "${lock.application}" to the invoicing service: an account belongs to one application, but this ledger uses this very address and key for application "${first}", ` +
      `and what was issued as "${first}" would be issued again as "${lock.application}". Nothing was sent. Set LOTE_APPLICATION=${first}. ` +
      `If both really issue through one account, and never the same invoices, confirm it once: lote confirm-service`,
  );
}

/**
 * Binds the account to the application because an operator confirms it.
 * @throws LoteError `interlock` also where the built-in sandbox would replace a real account
 */
export async function confirmService(lock: AccountGuard): Promise<ServiceAccountRecord> {
  requireMatchingKey(lock);
  await requireAccountHere(lock, 'Confirming the service');
  const account = recordOf(lock);
  await lock.ledger.confirmAccount(account, lock.now);
  return account;
}

/**
 * Requires that this process does not use the built-in sandbox where the ledger knows a real account. The variables of
 * the running Lote, such as those of a service unit, are then missing in this process. `title` names the attempt.
 * @throws LoteError `interlock`
 */
export async function requireAccountHere(
  lock: GuardedAccount & { readonly ledger: Pick<Ledger, 'knownAccount'> },
  title: string,
): Promise<void> {
  const known = await lock.ledger.knownAccount(recordOf(lock));
  if (known !== null) refuseMissing(lock, known, title);
}

function refuseMissing({ application, account }: GuardedAccount, known: ServiceAccountRecord, title: string): void {
  if (account !== null || known.application !== application || known.baseUrl === BUILT_IN_SANDBOX) return;
  throw new LoteError(
    'interlock',
    `${title}: application "${application}" of this ledger uses ${known.baseUrl}, but INVOICING_BASE_URL is not set here, and without it the built-in sandbox would be its service. Nothing was sent or confirmed. ` +
      'Set INVOICING_BASE_URL and INVOICING_API_KEY (or INVOICING_API_KEY_FILE) as they are where Lote runs. To try something at the built-in sandbox, use another LOTE_DATA_DIR (without DATABASE_URL) and another LOTE_REPORTS_DIR.',
  );
}

function recordOf({ ledger, application, account }: GuardedAccount): ServiceAccountRecord {
  const baseUrl = account === null ? BUILT_IN_SANDBOX : account.baseUrl.replace(/\/+$/, '');
  const keyFingerprint = createHash('sha256')
    .update(JSON.stringify([ledger.id, account?.apiKey ?? '']))
    .digest('hex')
    .slice(0, FINGERPRINT_DIGITS);
  return { application, baseUrl, keyFingerprint };
}

/** A test key at a live address, or the reverse, is always a mistake. */
function requireMatchingKey(lock: AccountGuard): void {
  const { account, profile } = lock;
  const kind = /^sk_(test|live)_/.exec(account?.apiKey ?? '')?.[1];
  const { environment } = profile;
  if (kind === undefined || environment === null || kind === environment) return;
  throw new LoteError(
    'interlock',
    `Connecting to the invoicing service: the service profile says that its address is ${environment}, so the key must be one for it, but it begins with sk_${kind}_. Nothing was sent. Correct INVOICING_API_KEY, INVOICING_BASE_URL or SERVICE_PROFILE.`,
  );
}

/** Returns true if Lote itself is the service. False with a shared ledger, or with an address but no key: the service is then only unknown. */
export function isBuiltInSandbox(config: Pick<Config, 'service' | 'serviceBaseUrl' | 'databaseUrl'>): boolean {
  return config.service.kind === 'sandbox' && config.serviceBaseUrl === null && config.databaseUrl === null;
}
