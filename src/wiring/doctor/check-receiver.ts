import { request } from 'undici';
import type { Config } from '../../runtime/config/config.ts';
import type { ServiceProfile } from '../../service-profile/profile.ts';
import { RECEIVER_HEADER } from '../../webhooks/receiver-routes.ts';
import { isBuiltInSandbox } from '../account/built-in-sandbox.ts';
import { receiverIdentity } from '../receiver/receiver-identity.ts';
import { codeOf, fine, trouble, unknown, type Check } from './check.ts';

const PATIENCE_MS = 5_000;
const NOT_KNOWN =
  'not known to this process: WEBHOOK_URL must be set for it too, as it is for the workers; with none, Lote asks for each final word (GET)';

const SECRET_NOT_KNOWN = 'not known to this process, which has no key either: ask where the workers run';

/** What the checks of the receiver are made with. `runs`: a receiver of this installation should be running now. */
export interface ReceiverCheckParts {
  readonly config: Pick<
    Config,
    'webhook' | 'service' | 'serviceBaseUrl' | 'application' | 'isOneOfSeveral' | 'databaseUrl'
  >;
  readonly profile: ServiceProfile;
  /** null: the ledger cannot be read. */
  readonly ledgerId: string | null;
  readonly runs: boolean;
}

/** Whether deliveries of the service reach a receiver of this ledger, and can be believed there. Nothing is delivered. */
export async function checkReceiver(parts: ReceiverCheckParts): Promise<readonly Check[]> {
  const { config, profile } = parts;
  if (config.service.kind === 'sandbox' && config.webhook.url === null)
    return [
      isBuiltInSandbox(config)
        ? fine('receiver', 'the built-in sandbox delivers to the receiver of its own process')
        : unknown('receiver', NOT_KNOWN),
    ];
  const isKeyless = config.service.kind === 'sandbox';
  const secret = isKeyless ? unknown('webhook secret', SECRET_NOT_KNOWN) : secretCheck(config, profile);
  return [secret, await addressCheck(parts)];
}

function secretCheck(
  { webhook: { secrets }, isOneOfSeveral }: ReceiverCheckParts['config'],
  { webhook, signature }: ServiceProfile,
): Check {
  const name = 'webhook secret';
  if (secrets.length > 0) return fine(name, 'set');
  const inAddress = signature.kind === 'path' || signature.kind === 'basic';
  if (webhook.register && !inAddress) return unknown(name, 'The service gives it when Lote registers the webhook.');
  const why = inAddress
    ? 'the address of the webhook holds it (signature.kind)'
    : 'Lote registers no webhook (webhook.register)';
  return trouble(
    name,
    `${isOneOfSeveral ? '"webhookSecretFile"' : 'WEBHOOK_SECRET'} is not set, and by the service profile ${why}: every delivery is refused.`,
    isOneOfSeveral
      ? 'Write the secret that the service shows for the webhook into a file, and name it in "webhookSecretFile".'
      : 'Set WEBHOOK_SECRET (or WEBHOOK_SECRET_FILE) to the secret that the service shows for the webhook.',
  );
}

async function addressCheck({ config, ledgerId, runs }: ReceiverCheckParts): Promise<Check> {
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
    if (typeof identity !== 'string') return somebodyElse(url, statusCode);
    if (ledgerId !== null && identity !== receiverIdentity(ledgerId, config.application))
      return trouble(
        name,
        `${url} is answered by a receiver of another ledger or application.`,
        'Correct WEBHOOK_URL, or the proxy behind it, or DATABASE_URL and LOTE_APPLICATION of that receiver.',
      );
    return fine(name, `${url} is answered by a receiver of this ledger`);
  } catch (error) {
    return nobody(url, { code: codeOf(error), runs });
  }
}

function somebodyElse(url: string, statusCode: number): Check {
  return trouble(
    'receiver',
    `${url} is answered by another program than a receiver of Lote (${statusCode} to a GET).`,
    'Correct WEBHOOK_URL or the proxy behind it: it must lead to RECEIVER_HOST:RECEIVER_PORT with the path /webhooks.',
  );
}

function nobody(url: string, { code, runs }: { readonly code: string; readonly runs: boolean }): Check {
  const detail = `Nobody answers at ${url} (${code}).`;
  return runs
    ? trouble(
        'receiver',
        detail,
        'Start the receiver (lote receiver, lote up), and see that proxy, DNS and firewall let the service in.',
      )
    : unknown('receiver', detail, 'Lote does not run: start it (lote up), then ask again.');
}
