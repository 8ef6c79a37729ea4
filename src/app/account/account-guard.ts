import { createHash } from 'node:crypto';
import { LoteError } from '../../domain/errors.ts';
import type { Config } from '../config/config.ts';
import type { ServiceProfile } from '../../service/profile/profile.ts';
import type { ServiceAccount } from './open-service.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { ServiceAccountRecord } from '../../ledger/sending/service-use.ts';

/** The built-in sandbox listens on whatever port is free; it is the same service all the same. */
export const BUILT_IN_SANDBOX = 'built-in sandbox';

/** Enough digits to see that a key changed; they reveal nothing else of it. */
const FINGERPRINT_DIGITS = 16;

interface GuardedAccount {
  readonly ledger: Pick<Ledger, 'id'>;
  readonly application: string;
  /** Null: the built-in sandbox. */
  readonly account: ServiceAccount | null;
}

/** What compares the configured account with the one that the ledger remembers. `now` is epoch milliseconds. */
export interface AccountGuard extends GuardedAccount {
  readonly ledger: Pick<Ledger, 'id' | 'knownAccount' | 'rememberAccount' | 'confirmAccount'>;
  readonly profile: Pick<ServiceProfile, 'environment'>;
  readonly now: number;
}

/**
 * A ledger belongs to one service account per application: invoices that were issued in a sandbox would count as
 * issued, and so never be sent, and the merchants' ids of one account are unknown to another. An account that never
 * answered is not remembered, so that it blocks no other. False: this account has not answered yet, and the ledger
 * remembers none.
 * @throws LoteError `interlock`
 */
export async function requireKnownService(lock: AccountGuard): Promise<boolean> {
  requireMatchingKey(lock);
  const known = await lock.ledger.knownAccount(recordOf(lock));
  if (known !== null) await requireSame(lock, known);
  return known !== null;
}

/**
 * The service has answered with the configured key: this account is the application's from now on.
 * @throws LoteError `interlock` when another one was quicker
 */
export async function rememberService(lock: AccountGuard): Promise<void> {
  requireMatchingKey(lock);
  await requireSame(lock, await lock.ledger.rememberAccount(recordOf(lock), lock.now));
}

async function requireSame(lock: AccountGuard, known: ServiceAccountRecord): Promise<void> {
  const account = recordOf(lock);
  if (known.application !== account.application) return forSecondApplication(lock, known.application);
  if (isMissingHere(lock, known)) throw missingHere('Connecting to the invoicing service', known, 'Nothing was sent');
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
 * Files of two applications are never the same invoices: a mistyped LOTE_APPLICATION would issue all of them again,
 * into the same account. The built-in sandbox counts as no account.
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
 * An operator's word: the account is the application's from now on.
 * @throws LoteError `interlock` also where the built-in sandbox would take the place of a real account
 */
export async function confirmService(lock: AccountGuard): Promise<ServiceAccountRecord> {
  requireMatchingKey(lock);
  const missing = await accountMissingHere(lock);
  if (missing !== null) throw missingHere('Confirming the service', missing, 'Nothing was confirmed');
  const account = recordOf(lock);
  await lock.ledger.confirmAccount(account, lock.now);
  return account;
}

/**
 * The real account that the ledger remembers for the application, where this process has the built-in sandbox in its place: variables that the running Lote
 * has, such as those of a service unit, are missing here. Null: none is missing. This writes nothing.
 */
export async function accountMissingHere(
  lock: GuardedAccount & { readonly ledger: Pick<Ledger, 'knownAccount'> },
): Promise<ServiceAccountRecord | null> {
  const known = await lock.ledger.knownAccount(recordOf(lock));
  return known !== null && isMissingHere(lock, known) ? known : null;
}

function isMissingHere({ application, account }: GuardedAccount, known: ServiceAccountRecord): boolean {
  return account === null && known.application === application && known.baseUrl !== BUILT_IN_SANDBOX;
}

/** What is wrong where `accountMissingHere` has found one. */
export function missingText({ application, baseUrl }: ServiceAccountRecord): string {
  return `application "${application}" of this ledger uses ${baseUrl}, but INVOICING_BASE_URL is not set here, and without it the built-in sandbox would be its service`;
}

/** What to do about it. */
export const MISSING_CURE =
  'Set INVOICING_BASE_URL and INVOICING_API_KEY (or INVOICING_API_KEY_FILE) as they are where Lote runs. To try something at the built-in sandbox, use another LOTE_DATA_DIR (without DATABASE_URL) and another LOTE_REPORTS_DIR.';

/** `title` says what was attempted, `nothing` what did not happen. */
export function missingHere(title: string, known: ServiceAccountRecord, nothing: string): LoteError {
  return new LoteError('interlock', `${title}: ${missingText(known)}. ${nothing}. ${MISSING_CURE}`);
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

/** Whether Lote itself is the service. A process without a key on a shared ledger, or with the address alone, only does not know its service. */
export function isBuiltInSandbox({
  service,
  serviceBaseUrl,
  databaseUrl,
}: Pick<Config, 'service' | 'serviceBaseUrl' | 'databaseUrl'>): boolean {
  return service.kind === 'sandbox' && serviceBaseUrl === null && databaseUrl === null;
}
