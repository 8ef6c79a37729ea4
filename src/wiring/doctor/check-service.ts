import { lookup } from 'node:dns/promises';
import { connect } from 'node:tls';
import { request } from 'undici';
import { commandLine, type CommandReader } from '../../domain/text/command-line.ts';
import { LoteError } from '../../domain/errors.ts';
import { DAY_MS } from '../../domain/time/day-ms.ts';
import type { Config } from '../../runtime/config/config.ts';
import type { ServiceProfile } from '../../service-profile/profile.ts';
import { accountMissingHere, MISSING_CURE, missingText, requireKnownService } from '../account/account-guard.ts';
import { isBuiltInSandbox } from '../account/built-in-sandbox.ts';
import { openService } from '../account/open-service.ts';
import { codeOf, errorText, fine, trouble, unknown, type Check } from './check.ts';
import { clockCheck } from './clock-check.ts';
import type { ReadOnlyLedger } from './read-only-ledger.ts';

const PATIENCE_MS = 5_000;
/** The list of merchants may have many pages. */
const LIST_PATIENCE_MS = 15_000;
const HTTPS_PORT = 443;
/** Certificates are renewed weeks before they end: one that ends sooner was forgotten. */
const CERTIFICATE_LASTS_DAYS = 10;

const NOT_KNOWN =
  'not known to this process: INVOICING_BASE_URL and INVOICING_API_KEY must be set for it too; without them, the built-in sandbox is the service';

/** What the checks of the service are made with. */
export interface ServiceParts {
  readonly config: Config;
  readonly profile: ServiceProfile;
  /** What `accountCheck` found. */
  readonly account: Promise<Check | null>;
  /** Lote works with this ledger in this process: it asks by itself, and its limits are those that the service set. */
  readonly isRunning: boolean;
  readonly now: () => number;
}

/** What was found of the service's address, and whether an account there can be asked about. */
export interface AddressChecks {
  readonly checks: readonly Check[];
  readonly isReached: boolean;
}

/**
 * Name, certificate and clock of the service, which are the same for each account: by requests that read alone, and stop
 * at the first thing that must be mended.
 */
export async function checkServiceAddress({
  config,
  now,
}: Pick<ServiceParts, 'config' | 'now'>): Promise<AddressChecks> {
  const { serviceBaseUrl } = config;
  if (isBuiltInSandbox(config)) return { checks: [fine('service', 'the built-in sandbox')], isReached: false };
  if (serviceBaseUrl === null) return { checks: [unknown('service', NOT_KNOWN)], isReached: false };
  const url = new URL(serviceBaseUrl);
  const found: Check[] = [];
  for (const check of [() => nameCheck(url), () => certificateCheck(url, now), () => timeCheck(url, now)]) {
    // oxlint-disable-next-line no-await-in-loop -- each needs what the one before it found
    const one = await check();
    found.push(one);
    if (one.state === 'trouble' && one.name !== 'clock') return { checks: found, isReached: false };
  }
  return { checks: found, isReached: true };
}

async function nameCheck({ hostname }: URL): Promise<Check> {
  const name = 'service name';
  try {
    await lookup(hostname.replaceAll(/[[\]]/g, ''));
    return fine(name, `${hostname} is known`);
  } catch (error) {
    const cure = 'Correct the host of INVOICING_BASE_URL, or the DNS of this machine.';
    return trouble(name, `The name ${hostname} cannot be resolved (${codeOf(error)}).`, cure);
  }
}

/** What must be done about a certificate that is not believed, by the code of the handshake. */
const CERTIFICATES: Readonly<Record<string, readonly [found: string, cure: string]>> = {
  CERT_HAS_EXPIRED: ['has expired', 'Tell the service to renew it; see also that the clock of this machine is right.'],
  DEPTH_ZERO_SELF_SIGNED_CERT: [
    'is signed by itself',
    'Correct INVOICING_BASE_URL, or name its authority: NODE_EXTRA_CA_CERTS=FILE.pem.',
  ],
  SELF_SIGNED_CERT_IN_CHAIN: [
    'comes from an unknown authority',
    'Name the authority of the service or of your proxy: NODE_EXTRA_CA_CERTS=FILE.pem.',
  ],
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: [
    'comes from an unknown authority',
    'Name the authority of the service or of your proxy: NODE_EXTRA_CA_CERTS=FILE.pem.',
  ],
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: [
    'comes from an unknown authority',
    'Name the authority of the service or of your proxy: NODE_EXTRA_CA_CERTS=FILE.pem.',
  ],
  ERR_TLS_CERT_ALTNAME_INVALID: ['is for another name', 'Correct the host of INVOICING_BASE_URL.'],
};

async function certificateCheck(url: URL, now: () => number): Promise<Check> {
  const name = 'service certificate';
  if (url.protocol === 'http:') return unknown(name, 'plain HTTP: no certificate');
  try {
    const ends = await certificateEnd(url);
    const days = Math.floor((ends - now()) / DAY_MS);
    const found = `valid for ${days} days`;
    return days >= CERTIFICATE_LASTS_DAYS
      ? fine(name, found)
      : unknown(name, found, 'Tell the service, which should have renewed it by now.');
  } catch (error) {
    const code = codeOf(error);
    const [found, cure] = CERTIFICATES[code] ?? [];
    return found === undefined
      ? trouble(name, `No TLS connection to ${url.host} (${code}).`, NOT_REACHED)
      : trouble(name, `The certificate of ${url.host} ${found} (${code}).`, cure ?? '');
  }
}

const NOT_REACHED = 'Correct INVOICING_BASE_URL, or open the way to it (firewall, proxy).';

/** Epoch milliseconds. @throws the error of the handshake */
function certificateEnd({ hostname, port }: URL): Promise<number> {
  const host = hostname.replaceAll(/[[\]]/g, '');
  return new Promise((resolve, reject) => {
    const socket = connect({
      host,
      port: port === '' ? HTTPS_PORT : Number(port),
      servername: host,
      timeout: PATIENCE_MS,
    });
    socket.once('secureConnect', () => {
      resolve(Date.parse(socket.getPeerCertificate().valid_to));
      socket.destroy();
    });
    socket.once('error', reject);
    socket.once('timeout', () => socket.destroy(Object.assign(new Error('No answer in time'), { code: 'ETIMEDOUT' })));
  });
}

/** One request without a key: any answer at all proves that the service can be reached, and its Date header whether the clocks agree. */
async function timeCheck(url: URL, now: () => number): Promise<Check> {
  try {
    const timeouts = { headersTimeout: PATIENCE_MS, bodyTimeout: PATIENCE_MS };
    const { headers, body } = await request(url, { method: 'HEAD', ...timeouts });
    await body.dump();
    const theirs = Date.parse(String(headers['date'] ?? ''));
    return Number.isNaN(theirs)
      ? unknown('clock', 'The service does not say what time it has.')
      : clockCheck('clock', { theirs, ours: now(), whose: "the service's" });
  } catch (error) {
    return trouble('service', `${url.origin} does not answer (${codeOf(error)}).`, NOT_REACHED);
  }
}

/** What the ledger says against the configured account; null: nothing. `ledger` is null when it cannot be read. */
export async function accountCheck(
  { config, profile, now }: Pick<ServiceParts, 'config' | 'profile' | 'now'>,
  ledger: ReadOnlyLedger | null,
): Promise<Check | null> {
  const { service: account, application, isOneOfSeveral } = config;
  if (ledger === null) return null;
  if (account.kind !== 'remote') return isBuiltInSandbox(config) ? missingCheck(application, ledger) : null;
  return otherAccount(config, () =>
    requireKnownService({
      ledger: { ...ledger, confirmAccount: () => Promise.resolve() },
      ...{ application, isOneOfSeveral, account, profile, now: now() },
    }),
  );
}

/** The operator's shell lacks what stands in the unit of the running Lote. */
async function missingCheck(application: string, ledger: ReadOnlyLedger): Promise<Check | null> {
  const missing = await accountMissingHere({ ledger, application, account: null });
  return missing === null ? null : trouble('service account', `Here ${missingText(missing)}.`, MISSING_CURE);
}

/** Whether the service accepts the key: reads the list of merchants, as each run does before it sends. */
export async function checkAccount({ config, profile, ...parts }: ServiceParts): Promise<readonly Check[]> {
  const { service: account, serviceBaseUrl } = config;
  if (account.kind !== 'remote') return [fine('service', `${serviceBaseUrl} answers; this process has no key`)];
  const other = await parts.account;
  if (other !== null) return [other];
  if (parts.isRunning)
    return [fine('service', `${account.baseUrl} answers; whether it accepts the key, lote doctor asks`)];
  const service = openService(config, account, profile);
  try {
    const answer = await service.listMerchants(AbortSignal.timeout(LIST_PATIENCE_MS));
    if (answer.kind === 'list')
      return [
        fine('service', `${account.baseUrl} answers, and accepts the key (${answer.merchants.length} merchants)`),
      ];
    const { code, message } = answer.reason;
    const cure =
      code === 'service-unauthorized'
        ? `Set the key that the service gave in ${config.isOneOfSeveral ? 'the file that "apiKeyFile" names' : 'INVOICING_API_KEY (or the file of INVOICING_API_KEY_FILE)'}.`
        : code === 'service-unreachable'
          ? NOT_REACHED
          : 'Correct the service profile: lote profile check, lote profile probe.';
    return [trouble('service', `${message}.`, cure)];
  } finally {
    await service.close();
  }
}

async function otherAccount(reader: CommandReader, require: () => Promise<unknown>): Promise<Check | null> {
  try {
    await require();
    return null;
  } catch (error) {
    if (!(error instanceof LoteError) || error.code !== 'interlock') throw error;
    return trouble(
      'service account',
      errorText(error),
      `Correct it, or confirm it once: ${commandLine(reader, 'confirm-service')}`,
    );
  }
}
