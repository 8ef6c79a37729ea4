import { request } from 'undici';
import { LoteError } from '../../domain/errors.ts';
import { isBuiltInSandbox, requireKnownService } from '../../app/account/account-guard.ts';
import { openService } from '../../app/account/open-service.ts';
import { causeCode } from '../../platform/error-code.ts';
import { clockCheck, errorText, fine, trouble, unknown, type Check } from './check.ts';
import type { Examination } from './check-ledger.ts';

const PATIENCE_MS = 5_000;
/** The list of merchants may have many pages. */
const LIST_PATIENCE_MS = 15_000;

const NOT_KNOWN =
  'not known to this process: INVOICING_BASE_URL and INVOICING_API_KEY must be set for it too; without them, the built-in sandbox is the service';

/** Name and cure for a service that cannot be reached, by error code. */
const CURES: readonly (readonly [codes: RegExp, name: string, cure: string])[] = [
  [/^(?:ENOTFOUND|EAI_AGAIN)$/, 'service name', 'Correct the host of INVOICING_BASE_URL, or the DNS of this machine.'],
  [/^CERT_HAS_EXPIRED$/, 'service certificate', 'Tell the service to renew it; see also that the clock here is right.'],
  [/^ERR_TLS_CERT_ALTNAME/, 'service certificate', 'It is for another name: correct the host of INVOICING_BASE_URL.'],
  [
    /SELF_SIGNED|^UNABLE_TO_/,
    'service certificate',
    'Name the authority of the service or of your proxy: NODE_EXTRA_CA_CERTS=FILE.pem; or correct INVOICING_BASE_URL.',
  ],
];
const NOT_REACHED = 'Correct INVOICING_BASE_URL, or open the way to it (firewall, proxy).';

/**
 * Checks whether the service is reachable, agrees with this machine's clock, and accepts the key. The first request has
 * no key: any answer proves that the service is reachable, and its Date header tells the time.
 */
export async function checkService(parts: Examination): Promise<readonly Check[]> {
  const { serviceBaseUrl } = parts.config;
  if (isBuiltInSandbox(parts.config)) return [fine('service', 'the built-in sandbox')];
  if (serviceBaseUrl === null) return [unknown('service', NOT_KNOWN)];
  let clock: Check;
  try {
    const timeouts = { headersTimeout: PATIENCE_MS, bodyTimeout: PATIENCE_MS };
    const { headers, body } = await request(serviceBaseUrl, { method: 'HEAD', ...timeouts });
    await body.dump();
    const theirs = Date.parse(String(headers['date'] ?? ''));
    clock = Number.isNaN(theirs)
      ? unknown('clock', 'The service does not say what time it has.')
      : clockCheck('clock', { theirs, ours: parts.now(), whose: "the service's" });
  } catch (error) {
    const code = causeCode(error);
    const { origin } = new URL(serviceBaseUrl);
    const [, name = 'service', cure = NOT_REACHED] = CURES.find(([codes]) => codes.test(code)) ?? [];
    return [trouble(name, `${origin} cannot be reached (${code}).`, cure)];
  }
  return [clock, await checkAccount(parts)];
}

/** Returns the ledger's objection to the configured account; null if it has none or cannot be read. */
export async function accountCheck({
  config,
  profile,
  ledger,
  now,
}: Omit<Examination, 'account'>): Promise<Check | null> {
  const { service, application } = config;
  // Only the unit of the running Lote may set the account, and the operator's shell lacks it.
  if (ledger === null || (service.kind === 'sandbox' && !isBuiltInSandbox(config))) return null;
  const account = service.kind === 'remote' ? service : null;
  try {
    const written = { ...ledger, confirmAccount: () => Promise.resolve() };
    await requireKnownService({ ledger: written, application, account, profile, now: now() });
    return null;
  } catch (error) {
    if (!(error instanceof LoteError) || error.code !== 'interlock') throw error;
    const cure =
      account === null ? 'Set these variables here too.' : 'Correct it, or confirm it once: lote confirm-service';
    return trouble('service account', errorText(error), cure);
  }
}

/** Checks whether the service accepts the key: reads the list of merchants, as each run does before it sends. */
async function checkAccount({ config, profile, ...parts }: Examination): Promise<Check> {
  const { service: account, serviceBaseUrl } = config;
  if (account.kind !== 'remote') return fine('service', `${serviceBaseUrl} answers; this process has no key`);
  const other = await parts.account;
  if (other !== null) return other;
  if (parts.isRunning)
    return fine('service', `${account.baseUrl} answers; whether it accepts the key, lote doctor asks`);
  const service = openService(config, account, profile);
  try {
    const answer = await service.listMerchants(AbortSignal.timeout(LIST_PATIENCE_MS));
    if (answer.kind === 'list')
      return fine('service', `${account.baseUrl} answers, and accepts the key (${answer.merchants.length} merchants)`);
    const { code, message } = answer.reason;
    const cure =
      code === 'service-unauthorized'
        ? `Set the key that the service gave in INVOICING_API_KEY (or the file of INVOICING_API_KEY_FILE).`
        : code === 'service-unreachable'
          ? NOT_REACHED
          : 'Correct the service profile: lote profile check --live.';
    return trouble('service', `${message}.`, cure);
  } finally {
    await service.close();
  }
}
