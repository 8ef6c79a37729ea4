import { request } from 'undici';
import { LoteError } from '../../domain/errors.ts';
import { isBuiltInSandbox, requireKnownService } from '../../app/account/account-guard.ts';
import { receiverIdentity } from '../../app/receiver/receiver-identity.ts';
import { DAY_MS } from '../../domain/time/instants.ts';
import { RECEIVER_HEADER } from '../../webhooks/server.ts';
import { openService } from '../../app/account/open-service.ts';
import { causeCode } from '../../platform/error-code.ts';
import { clockCheck, errorText, fine, trouble, unknown, type Check } from './check.ts';
import type { Examination } from './check-ledger.ts';

const PATIENCE_MS = 5_000;
const TIMEOUTS = { headersTimeout: PATIENCE_MS, bodyTimeout: PATIENCE_MS };
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
    const { headers, body } = await request(serviceBaseUrl, { method: 'HEAD', ...TIMEOUTS });
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

const RECEIVER_NOT_KNOWN =
  'not known to this process: WEBHOOK_URL must be set for it too, as it is for the workers; with none, Lote asks for each final word (GET)';

const EVENT_DAYS = 7;
const SECRET_NOT_KNOWN = 'not known to this process, which has no key either: ask where the workers run';

/** Reports signed events of the last seven days about unknown documents, if these may belong to Lote's invoices. */
export async function checkEvents({ ledger, now }: Examination): Promise<readonly Check[]> {
  if (ledger === null) return [];
  const { unknownIds, isAnswerMissing } = await ledger.deliveryTrouble(now() - EVENT_DAYS * DAY_MS);
  if (unknownIds === 0 || !isAnswerMissing) return [];
  return [
    trouble(
      'events',
      `${unknownIds} signed events of the last ${EVENT_DAYS} days told of documents that no invoice has, and some invoices have no answer or were refused.`,
      'Look for these documents at the service before you send those invoices again (lote find, the report of their batch).',
    ),
  ];
}

/** Checks whether deliveries can reach a receiver of this ledger, which can verify them. Sends no delivery. */
export async function checkReceiver(examination: Examination): Promise<readonly Check[]> {
  const { config } = examination;
  if (config.service.kind === 'sandbox' && config.webhook.url === null)
    return [
      isBuiltInSandbox(config)
        ? fine('receiver', 'the built-in sandbox delivers to the receiver of its own process')
        : unknown('receiver', RECEIVER_NOT_KNOWN),
    ];
  const isKeyless = config.service.kind === 'sandbox';
  const secret = isKeyless ? unknown('webhook secret', SECRET_NOT_KNOWN) : secretCheck(examination);
  return [secret, await addressCheck(examination)];
}

function secretCheck({ config, profile: { webhook } }: Examination): Check {
  const name = 'webhook secret';
  if (config.webhook.secrets.length > 0) return fine(name, 'set');
  if (webhook.register) return unknown(name, 'The service gives it when Lote registers the webhook.');
  return trouble(
    name,
    'WEBHOOK_SECRET is not set, and by the service profile Lote registers no webhook (webhook.register): every delivery is refused.',
    'Set WEBHOOK_SECRET (or WEBHOOK_SECRET_FILE) to the secret that the service shows for the webhook.',
  );
}

async function addressCheck({ config, ledger, runs }: Examination): Promise<Check> {
  const name = 'receiver';
  const { url } = config.webhook;
  if (url === null) {
    const cure = 'Set WEBHOOK_URL to the public address of the receiver, if the service can reach this machine.';
    return unknown(name, 'WEBHOOK_URL is not set: Lote asks for each final word (GET).', cure);
  }
  try {
    const { statusCode, headers, body } = await request(url, { method: 'GET', ...TIMEOUTS });
    await body.dump();
    const identity = headers[RECEIVER_HEADER];
    if (typeof identity !== 'string')
      return trouble(
        name,
        `${url} is answered by another program than a receiver of Lote (${statusCode} to a GET).`,
        'Correct WEBHOOK_URL or the proxy behind it: it must lead to RECEIVER_HOST:RECEIVER_PORT with the path /webhooks or that of WEBHOOK_URL.',
      );
    if (ledger !== null && identity !== receiverIdentity(ledger.id, config.application))
      return trouble(
        name,
        `${url} is answered by a receiver of another ledger or application.`,
        'Correct WEBHOOK_URL, or the proxy behind it, or DATABASE_URL and LOTE_APPLICATION of that receiver.',
      );
    return fine(name, `${url} is answered by a receiver of this ledger`);
  } catch (error) {
    const detail = `No program answers at ${url} (${causeCode(error)}).`;
    return runs
      ? trouble(
          name,
          detail,
          'Start the receiver (lote receiver, lote up), and let the service in: proxy, DNS, firewall.',
        )
      : unknown(name, detail, 'Lote does not run: start it (lote up), then ask again.');
  }
}
