import type { AnswerWatch } from '../../../activities/profile-fit/answer-watch.ts';
import { LoteError } from '../../domain/errors.ts';
import type { InvoicingService } from '../../domain/ports/invoicing-service.ts';
import type { Config } from '../../runtime/config/config.ts';
import { choosePort } from '../../runtime/process/free-port.ts';
import { DEFAULT_API_KEY, startSandbox, type Sandbox, type SandboxOptions } from '../../sandbox/sandbox.ts';
import { fileStore } from '../../sandbox/store/file-store.ts';
import { rememberService, requireKnownService, type AccountGuard } from '../account/account-guard.ts';
import { authenticatedService } from '../account/authenticated-service.ts';
import { goOnWithout } from './go-on-without.ts';
import { openSharedService, type ServiceAccount } from '../account/open-service.ts';
import type { ProfiledApplication } from '../account/read-profiles.ts';
import { timedService } from '../account/timed-service.ts';
import { sandboxProfile } from '../account/sandbox-profile.ts';
import { openAnswerWatch } from '../profile-fit/open-answer-watch.ts';
import { openApplicationCore, type ApplicationCore, type SharedCore } from './process-core.ts';

const NOTHING_SENT = 'nothing is sent for an application';

/** Of the built-in sandbox: what goes wrong in it. */
export type SandboxBehaviour = Pick<SandboxOptions, 'faults' | 'seed' | 'idsBySeed'>;

/** One application of this process, with its service. */
export interface OpenApplication extends Omit<ReachedService, 'sandbox'> {
  readonly core: ApplicationCore;
  /** The one of this process for this application. */
  readonly watch: AnswerWatch;
}

export interface ReachedService {
  /** Null: the service is a real one. */
  readonly sandbox: Sandbox | null;
  readonly service: InvoicingService;
  /** See `requireKnownService` and `SendingGuard`. */
  readonly requireAccount: () => Promise<void>;
}

/** How each application is opened. */
export interface OpeningOptions {
  /** Ports that the sandbox must leave free. */
  readonly reserved?: readonly number[];
  readonly behaviour?: SandboxBehaviour;
  /**
   * What is made of an application that may not send, because the ledger is older than what was sent with it: a process
   * that does everything refuses to start, and says so to whoever waits; a worker goes on, and says so in its log and in
   * each batch that waits; to a receiver it is all one, for it sends nothing. Left out: `refuse`.
   */
  readonly unsendable?: 'refuse' | 'log' | 'ignore';
  /** Asked for each application, when its service is open. */
  readonly beforeSending?: (service: InvoicingService, application: string) => Promise<void>;
}

/** Opens each application with its service; `sandbox` is that of the only one, when no service was given. */
export async function openEach(
  core: SharedCore,
  [first, ...others]: readonly [ProfiledApplication, ...ProfiledApplication[]],
  options: OpeningOptions,
): Promise<{ readonly applications: [OpenApplication, ...OpenApplication[]]; readonly sandbox: Sandbox | null }> {
  const open = async (one: ProfiledApplication) => {
    const own = await openApplicationCore(core, one);
    const { sandbox, service, requireAccount } = await openServiceOf(own, options);
    await options.beforeSending?.(service, one.config.application);
    const expectsEvents = one.config.webhook.url !== null || sandbox !== null;
    const watch = openAnswerWatch({ ...own, service, expectsEvents });
    return { sandbox, application: { core: own, service, requireAccount, watch } };
  };
  const { application, sandbox } = await open(first);
  const applications: [OpenApplication, ...OpenApplication[]] = [application];
  // oxlint-disable-next-line no-await-in-loop -- two hundred at once would be a burst
  for (const other of others) applications.push((await open(other)).application);
  return { applications, sandbox };
}

/** The service that was given, or the sandbox, which is started first; with the account that the ledger knows. */
async function openServiceOf(
  core: ApplicationCore,
  { reserved = [], behaviour, unsendable = 'refuse' }: OpeningOptions,
): Promise<ReachedService> {
  const { config, profile, ledger, sending, crash, capture, clock, telemetry, parts } = core;
  const sandbox = config.service.kind === 'sandbox' ? await startOwnSandbox(core, reserved, behaviour) : null;
  if (sandbox !== null) parts.addToTheEnd('sandbox', () => sandbox.close());
  const account = accountOf(config, sandbox);
  const known = config.service.kind === 'sandbox' ? null : account;
  const { application, isOneOfSeveral } = config;
  const guard = (): AccountGuard => ({ ledger, application, isOneOfSeveral, account: known, profile, now: Date.now() });
  const isKnown = (): Promise<boolean> => requireKnownService(guard());
  const requireAccount = async (): Promise<void> => {
    await isKnown();
    await sending?.require();
  };
  await goOnWithout(core, NOTHING_SENT, unsendable === 'refuse' ? requireAccount : isKnown);
  if (unsendable === 'log')
    await sending?.require().catch((err: unknown) => core.log.error(NOTHING_SENT, { application, err }));
  // A shared ledger has the clock of its database, with which each worker compares its own.
  const ownClock = config.databaseUrl === null && known !== null ? clock : null;
  const shared = { profile, ledger, capture, telemetry, clock: ownClock };
  const opened = crash.service(openSharedService(config, account, shared));
  const service = authenticatedService({
    service: ownClock === null ? opened : timedService(opened, ownClock),
    isKnown,
    remember: () => rememberService(guard()),
  });
  parts.add('service', () => service.close());
  return { sandbox, service, requireAccount };
}

function accountOf(config: Config, sandbox: Sandbox | null): ServiceAccount {
  if (config.service.kind === 'remote') return config.service;
  if (sandbox !== null) return { baseUrl: sandbox.url, apiKey: DEFAULT_API_KEY };
  throw new LoteError('internal', 'Neither a service nor the sandbox is there; this is a mistake in Lote.');
}

/** The sandbox keeps its own books, never in the ledger's database: it plays somebody else. */
async function startOwnSandbox(
  { config, dataDir, log }: ApplicationCore,
  reserved: readonly number[],
  behaviour: SandboxBehaviour | undefined,
): Promise<Sandbox> {
  const profile = sandboxProfile(config);
  return startSandbox({
    host: config.sandbox.host,
    port: config.sandbox.port === 0 ? 0 : await choosePort({ ...config.sandbox, reserved }),
    store: fileStore({ directory: dataDir.sandbox }),
    log,
    ...(profile === null ? {} : { profile }),
    ...behaviour,
  });
}
