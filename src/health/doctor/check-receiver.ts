import { request } from 'undici';
import { RECEIVER_HEADER } from '../../webhooks/server.ts';
import { isBuiltInSandbox } from '../../app/account/account-guard.ts';
import { receiverIdentity } from '../../app/receiver/receiver-identity.ts';
import type { Examination } from './check-ledger.ts';
import { causeCode } from '../../platform/error-code.ts';
import { DAY_MS } from '../../domain/time/day-ms.ts';
import { fine, trouble, unknown, type Check } from './check.ts';

const PATIENCE_MS = 5_000;
const NOT_KNOWN =
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
        : unknown('receiver', NOT_KNOWN),
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
    const timeouts = { headersTimeout: PATIENCE_MS, bodyTimeout: PATIENCE_MS };
    const { statusCode, headers, body } = await request(url, { method: 'GET', ...timeouts });
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
