import type { SandboxOptions, Sandbox } from '../../../src/sandbox/sandbox.ts';
import type { startedParts } from '../../../src/app/start/stop-in-reverse.ts';
import type { Ledger } from '../../../src/ledger/ledger.ts';
import { type Config, readConfig } from '../../../src/app/config/config.ts';
import type { ServiceProfile } from '../../../src/service/profile/profile.ts';
import { profileDigestOf, readProfile } from '../../../src/app/account/read-profile.ts';
import { type ServiceFront, independentSandbox, startServiceFront, SANDBOX_KEY } from '../servers/service-front.ts';
import { ownName } from '../files/batch-file.ts';
import { join } from 'node:path';
import { openPostgresLedger } from '../../../src/ledger/open-postgres-ledger.ts';
import { openPgliteLedger } from '../../../src/ledger/open-pglite-ledger.ts';
import { LEDGER_TEMPLATES, temporaryLedger } from '../servers/temporary-database.ts';
import { postgresUrl, postgresSchema } from '../servers/postgres-database.ts';

export interface StackOptions {
  readonly sandbox?: Partial<SandboxOptions>;
  /** LOTE_* settings; times are long by default. */
  readonly env?: Readonly<Record<string, string>>;
  /** `none`: Lote registers no address, so only GETs settle invoices. Default: `on`, the service sends deliveries. */
  readonly webhooks?: 'on' | 'none';
  /** `lost`: the receiver stores deliveries, but signals no page. */
  readonly signals?: 'on' | 'lost';
  /** Merged over the default service profile. */
  readonly profile?: Readonly<Record<string, unknown>>;
  /** The test's own service, instead of sandbox and front. */
  readonly service?: { readonly url: string; readonly key: string };
  /** Port of the receiver. Default: any free port. */
  readonly receiverPort?: number;
  /** `false`: as on a server without Lote's search attributes. */
  readonly searchable?: boolean;
  /** True if Lote keeps the send log in the reports folder, as a worker does. Default false. */
  readonly sendLog?: boolean;
  /** `false`: the service profile is not proved yet, as in the first batch of an installation. */
  readonly isProved?: boolean;
  /** Default: PostgreSQL if the machine has it, because a schema is made quickly; otherwise PGlite. */
  readonly ledger?: 'pglite' | 'postgres';
  /** The test's own PostgreSQL server, which it may stop, fill or make read-only. */
  readonly databaseUrl?: string;
  /** The folder of an embedded ledger on the test's own disk. */
  readonly ledgerDir?: string;
}

/** Times that are long enough for a slow machine. A test that waits for one of them sets its own. */
const TIMES = {
  LOTE_SETTLE_TIMEOUT: '10m',
  LOTE_SEND_TIMEOUT: '10m',
  LOTE_OUTAGE_PATIENCE: '10m',
  LOTE_PAGE_SIZE: '50',
  LOTE_LOG_LEVEL: 'warn',
};

export type Parts = ReturnType<typeof startedParts>;

/** Marks each word of the profile as proved, as after the first batch. */
export async function prove(ledger: Ledger, config: Config, { invoice, event }: ServiceProfile): Promise<void> {
  const answers = [...invoice.issued, ...invoice.failed].map((word) => `answer ${word.toLowerCase()}`);
  const events = event.issued.map((type) => `event ${type.toLowerCase()}`);
  await ledger.calibrate(profileDigestOf(config, readProfile(config)), (draft) =>
    Object.assign(draft, { opened: Date.now(), proved: [...answers, ...events, 'failed event'] }),
  );
}

/** Opens the sandbox and the front before it, or returns the test's own service. */
export async function openTestService(options: StackOptions, parts: Parts) {
  if (options.service !== undefined)
    return { sandbox: absent<Sandbox>('sandbox'), front: absent<ServiceFront>('front'), service: options.service };
  const sandbox = await independentSandbox({ settleMs: 20, ...options.sandbox });
  parts.add('sandbox', () => sandbox.close());
  const front = await startServiceFront(sandbox.url);
  parts.add('front', () => front.close());
  return { sandbox, front, service: { url: front.url, key: SANDBOX_KEY } };
}

/** Throws at each access, because a test with its own service must not use this part. */
function absent<T extends object>(part: string): T {
  const get = (): never => {
    throw new Error(`A stack with a service of the test's own has no ${part}`);
  };
  return new Proxy({} as T, { get });
}

export function configOf(
  options: StackOptions,
  directory: string,
  service: { readonly url: string; readonly key: string },
): Config {
  const name = ownName('t');
  return readConfig(
    {
      ...TIMES,
      INVOICING_BASE_URL: service.url,
      INVOICING_API_KEY: service.key,
      LOTE_APPLICATION: name,
      LOTE_TASK_QUEUE: `lote-${name}`,
      SERVICE_PROFILE: join(directory, 'profile.json'),
      LOTE_DATA_DIR: join(directory, 'data'),
      LOTE_INPUT_DIR: join(directory, 'input'),
      LOTE_REPORTS_DIR: join(directory, 'reports'),
      ...options.env,
    },
    directory,
  );
}

export async function openTestLedger(options: StackOptions, parts: Parts): Promise<Ledger> {
  const { databaseUrl, ledgerDir: directory } = options;
  if (databaseUrl !== undefined || directory !== undefined) {
    const ledger =
      directory === undefined
        ? await openPostgresLedger({ connectionString: databaseUrl ?? '' })
        : await openPgliteLedger({ directory, templates: LEDGER_TEMPLATES });
    parts.add('ledger', () => ledger.close());
    return ledger;
  }
  const url = postgresUrl();
  if (options.ledger === 'pglite' || url === null) {
    const ledger = await temporaryLedger();
    parts.add('ledger', () => ledger.close());
    return ledger;
  }
  const schema = postgresSchema(url);
  parts.add('schema', () => schema.drop());
  const ledger = await openPostgresLedger({ ...schema });
  parts.add('ledger', () => ledger.close());
  return ledger;
}
