import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import ms from 'ms';
import { LoteError } from '../../domain/errors.ts';
import { readConfig, type Config } from '../../runtime/config/config.ts';
import { isMistake, readProfileFile } from '../../service-profile/check/read-profile-file.ts';
import { loadProfile } from '../../service-profile/load-profile.ts';
import type { ServiceAccount } from '../../wiring/account/open-service.ts';
import { profileText } from '../../wiring/account/profile-text.ts';
import { isLoopback, planText, requireProbeTarget } from '../../wiring/probe/probe-plan.ts';
import { madeUpNif, type ProbeSubject } from '../../wiring/probe/probe-subject.ts';
import { startTemporaryReceiver } from '../../wiring/probe/temporary-receiver.ts';
import { runProbe, type ProbeRequest, type ProbeResult } from '../../wiring/probe/run-probe.ts';
import { EXIT, type ExitCode } from '../output/exit-codes.ts';
import { probedText } from '../output/probe-text.ts';
import { askYes } from '../session/ask-yes.ts';

/** Options of `lote profile probe`, as they were typed. */
export interface ProfileProbeOptions {
  readonly profile?: string;
  readonly out?: string;
  readonly force: boolean;
  readonly nif?: string;
  readonly name: string;
  readonly email: string;
  readonly currency: string;
  readonly taxCode: string;
  readonly failingTaxCode?: string;
  readonly webhookUrl?: string;
  readonly port?: string;
  readonly wait: string;
  readonly live: boolean;
  readonly yes: boolean;
  readonly json: boolean;
}

/** `lote profile probe`: nothing is sent before somebody has said yes to what will be created. */
export async function profileProbeCommand(options: ProfileProbeOptions, env: NodeJS.ProcessEnv): Promise<ExitCode> {
  const config = readConfig(env);
  const account = accountOf(config);
  const base = baseOf(options, config);
  requireProbeTarget({ account, profile: base.profile, live: options.live });
  const out = options.out === undefined ? null : outFile(options.out, options.force);
  const subject = subjectOf(options);
  const waitMs = waitOf(options.wait);
  const listening = listeningOf(options, { config, account, kind: base.profile.signature.kind });
  const receiver = listening === null ? null : await startTemporaryReceiver(listening.port);
  try {
    const url = receiver === null ? null : (options.webhookUrl ?? receiver.url);
    const webhook = base.profile.webhook.register ? url : null;
    process.stderr.write(planText({ account, profileName: base.name, subject, webhook, waitMs }));
    if (!options.yes && !(await askYes('Go on?'))) {
      process.stderr.write('Nothing was sent.\n');
      return EXIT.refused;
    }
    const result = await runProbe({
      ...{ account, application: config.application, base, subject, waitMs },
      receiver: receiver === null || url === null ? null : { ...receiver, url, secrets: config.webhook.secrets },
      say: (step) => void process.stderr.write(`… ${step}\n`),
    });
    await print(result, { out, json: options.json });
    return result.complete ? EXIT.ok : EXIT.someNotIssued;
  } finally {
    await receiver?.close();
  }
}

function accountOf({ service }: Config): ServiceAccount {
  if (service.kind === 'remote') return service;
  throw new LoteError(
    'usage',
    'Probing: INVOICING_BASE_URL and INVOICING_API_KEY must name the service and a test key of it; found neither. To try it, start `lote sandbox` and name that.',
  );
}

type Base = ProbeRequest['base'] & { readonly name: string };

function baseOf({ profile: file }: ProfileProbeOptions, { serviceProfilePath }: Config): Base {
  const path = file === undefined ? serviceProfilePath : resolve(file);
  if (path === null) return { document: {}, profile: loadProfile(undefined), name: 'the default profile' };
  const text = profileText(path, file === undefined ? 'SERVICE_PROFILE' : 'FILE');
  const profile = loadProfile(text);
  const read = readProfileFile(text);
  return { document: isMistake(read) ? {} : read.document, profile, name: path };
}

function outFile(file: string, force: boolean): string {
  const path = resolve(file);
  if (force || !existsSync(path)) return path;
  throw new LoteError(
    'usage',
    `Probing: --out must name a new file, found ${JSON.stringify(path)}. Nothing was sent. Name another file, or add --force.`,
  );
}

function subjectOf(options: ProfileProbeOptions): ProbeSubject {
  const { name, email, currency, taxCode, live } = options;
  if (live && options.nif === undefined)
    throw new LoteError(
      'usage',
      'Probing: --live needs --nif, because a live service must not get a made-up tax number. Nothing was sent.',
    );
  const nif = options.nif ?? madeUpNif();
  if (!/^\d{5,15}$/.test(nif)) throw new LoteError('usage', 'Probing: --nif must be 5 to 15 digits. Nothing was sent.');
  if (!/^[A-Z]{3}$/.test(currency))
    throw new LoteError(
      'usage',
      `Probing: --currency must be three capital letters, found ${JSON.stringify(currency)}. Nothing was sent.`,
    );
  const failingTaxCode = options.failingTaxCode ?? null;
  return { nif, legalName: name, email, currency, taxCode, failingTaxCode, run: randomUUID() };
}

interface ListeningFor {
  readonly config: Config;
  readonly account: ServiceAccount;
  readonly kind: string;
}

/** Where the receiver of the probe listens; null: the service could not reach it. */
function listeningOf(
  options: ProfileProbeOptions,
  { config, account, kind }: ListeningFor,
): { readonly port: number } | null {
  const { webhookUrl, port } = options;
  if (webhookUrl === undefined && port === undefined && !isLoopback(account.baseUrl)) return null;
  const { secrets } = config.webhook;
  if (webhookUrl !== undefined && !(URL.canParse(webhookUrl) && /^https?:/i.test(webhookUrl)))
    throw new LoteError('usage', 'Probing: --webhook-url must be an http or https address. Nothing was sent.');
  if ((kind === 'basic' || kind === 'path') && secrets.length === 0)
    throw new LoteError(
      'usage',
      `Probing: signature.kind "${kind}" puts the secret into the address: set WEBHOOK_SECRET. Nothing was sent.`,
    );
  if (port !== undefined && !(/^\d{1,5}$/.test(port) && Number(port) < 65_536))
    throw new LoteError(
      'usage',
      `Probing: --port must be a port number, found ${JSON.stringify(port)}. Nothing was sent.`,
    );
  const ownPort = webhookUrl === undefined ? 0 : config.receiver.port;
  return { port: port === undefined ? ownPort : Number(port) };
}

function waitOf(text: string): number {
  const value = /^\d+(\.\d+)?\s*[a-z]+$/iu.test(text) ? ms(text as ms.StringValue) : Number.NaN;
  if (value >= 1_000 && value <= 1_800_000) return value;
  throw new LoteError(
    'usage',
    `Probing: --wait must be a duration from 1s to 30m, such as 90s, found ${JSON.stringify(text)}. Nothing was sent.`,
  );
}

/** Without --out the proposal alone stands on standard output, so that it can be sent into a file. */
async function print(
  result: ProbeResult,
  { out, json }: { readonly out: string | null; readonly json: boolean },
): Promise<void> {
  if (out !== null) {
    await rm(out, { force: true });
    await writeFile(out, result.proposal, { mode: 0o600, flag: 'wx' });
  }
  if (json) return void process.stdout.write(`${JSON.stringify({ ...result, out })}\n`);
  const text = probedText(result);
  if (out === null) {
    process.stderr.write(`\n${text}`);
    process.stdout.write(result.proposal);
  } else process.stdout.write(`${text}Written: ${out}\n`);
}
