import { randomInt } from 'node:crypto';
import { resolve } from 'node:path';
import { LoteError } from '../../domain/errors.ts';
import { readConfig, type Config } from '../../app/config/config.ts';
import { durationMs, LOOPBACK_HOSTS } from '../../app/config/env-schema.ts';
import { loadProfile } from '../../service/profile/check-profile.ts';
import type { ServiceProfile } from '../../service/profile/profile.ts';
import type { ServiceAccount } from '../../app/account/open-service.ts';
import { profileText, readProfile } from '../../app/account/read-profile.ts';
import { checkLive, type LiveCheck } from '../../app/live-check/check-live.ts';
import { startTemporaryReceiver } from '../../app/live-check/temporary-receiver.ts';
import { printResult, tableLines } from '../output/terminal-text.ts';
import { EXIT, type ExitCode } from '../output/exit-codes.ts';

const HEAD = ['setting', 'the profile looks at', 'received there', 'verdict'] as const;

/** Formats the output of `lote profile check --live`: a line for each setting, and below it the places of the answer for a setting that does not fit. */
function liveCheckText({ rows, requests, fits }: LiveCheck): string {
  const lines = tableLines([HEAD, ...rows.map((row) => [row.setting, row.place, row.received, row.verdict])]);
  const shown = lines.flatMap((line, at) => {
    // The head has no places.
    const places = rows[at - 1]?.places ?? [];
    return places.length === 0 ? [line] : [line, `  the answer has: ${places.join(', ')}`];
  });
  const end = fits
    ? 'Lote reads everything that was created.'
    : 'Correct the settings that do not fit, and check again. What was not seen may fit all the same.';
  return [...shown, '', `${end} ${requests} requests.`, ''].join('\n');
}

/** Arguments of `lote profile check --live`; without `file`, Lote checks the file named by SERVICE_PROFILE. */
export interface LiveCheckCommand {
  readonly file?: string | undefined;
  readonly merchant?: string;
  readonly nif?: string;
  readonly currency: string;
  readonly taxCode: string;
  readonly webhookUrl?: string;
  readonly port?: string;
  readonly wait: string;
  readonly yes: boolean;
  readonly json: boolean;
}

const TEST_KEY = 'sk_test_';

/** `lote profile check [FILE] --live`: creates a merchant and an invoice with a test key, and shows what was received at each place. */
export async function profileCheckLiveCommand(env: NodeJS.ProcessEnv, command: LiveCheckCommand): Promise<ExitCode> {
  const { file, merchant = null, nif = madeUpNif(), currency, taxCode, json } = command;
  const config = readConfig(env);
  const profile = file === undefined ? readProfile(config) : loadProfile(profileText(resolve(file), 'FILE'));
  const account = config.service;
  if (account.kind !== 'remote')
    throw refused(
      'INVOICING_BASE_URL and INVOICING_API_KEY must name the service and a test key of it; found neither.',
    );
  requireTestKey(account, profile, command);
  if (!/^\d{5,15}$/.test(nif)) throw refused('--nif must be 5 to 15 digits.');
  if (!/^[A-Z]{3}$/.test(currency)) throw refused('--currency must be three capital letters.');
  const waitMs = durationMs(command.wait);
  if (!(waitMs >= 1_000 && waitMs <= 1_800_000))
    throw refused('--wait must be a duration from 1s to 30m, such as 90s.');
  const port = portOf(command, config, account);
  const receiver = port === null ? null : await startTemporaryReceiver(port);
  try {
    const result = await checkLive({
      account,
      application: config.application,
      profile,
      subject: { merchantId: merchant, nif, currency, taxCode },
      receiver: receiver === null ? null : { ...receiver, url: command.webhookUrl ?? receiver.url },
      secrets: config.webhook.secrets,
      waitMs,
    });
    printResult(json, result, () => liveCheckText(result));
    return result.fits ? EXIT.ok : EXIT.someNotIssued;
  } finally {
    await receiver?.close();
  }
}

function refused(why: string): LoteError {
  return new LoteError('usage', `Checking the service profile: ${why} Nothing was sent.`);
}

/** Refuses a live key without --yes, and an address without https. No message contains the key. */
function requireTestKey(account: ServiceAccount, profile: ServiceProfile, { yes, nif, merchant }: LiveCheckCommand) {
  const isTest = account.apiKey.startsWith(TEST_KEY);
  if (!isTest && (!yes || profile.environment === 'test'))
    throw refused(
      `INVOICING_API_KEY must be a test key (${TEST_KEY}…), because a merchant and an invoice are created; found another key. If the invoice may be real, say --yes.`,
    );
  if (!isTest && nif === undefined && merchant === undefined)
    throw refused('with a key that is no test key, name a tax number (--nif) or a merchant (--merchant).');
  const { protocol, hostname } = new URL(account.baseUrl);
  if (protocol !== 'https:' && !LOOPBACK_HOSTS.has(hostname) && !profile.allowPlainHttp)
    throw refused(`INVOICING_BASE_URL must be an https address or on this machine, found ${protocol}//${hostname}.`);
}

const WEIGHTS = [9, 8, 7, 6, 5, 4, 3, 2];

/** Makes up a number in the form of a Portuguese company's tax number, with its check digit. */
function madeUpNif(): string {
  const digits = [5, ...Array.from({ length: 7 }, () => randomInt(10))];
  const rest = 11 - (digits.reduce((all, digit, at) => all + digit * (WEIGHTS[at] ?? 0), 0) % 11);
  return [...digits, rest > 9 ? 0 : rest].join('');
}

/** Returns the port of the temporary receiver, or null if the service could not reach it. */
function portOf({ webhookUrl, port }: LiveCheckCommand, config: Config, { baseUrl }: ServiceAccount): number | null {
  if (webhookUrl !== undefined && !(URL.canParse(webhookUrl) && /^https?:/i.test(webhookUrl)))
    throw refused('--webhook-url must be an http or https address.');
  if (port !== undefined && !(/^\d{1,5}$/.test(port) && Number(port) < 65_536))
    throw refused('--port must be a port number.');
  if (port !== undefined) return Number(port);
  if (webhookUrl !== undefined) return config.receiver.port;
  return LOOPBACK_HOSTS.has(new URL(baseUrl).hostname) ? 0 : null;
}
