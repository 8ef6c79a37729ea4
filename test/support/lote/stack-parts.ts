import type { SandboxOptions, Sandbox } from '../../../src/sandbox/sandbox.ts';
import type { startedParts } from '../../../src/app/start/stop-in-reverse.ts';
import type { Ledger } from '../../../src/ledger/ledger.ts';
import { type Config, readConfig } from '../../../src/app/config/config.ts';
import type { ServiceProfile } from '../../../src/service/profile/profile.ts';
import { profileDigestOf, readProfile } from '../../../src/app/account/read-profile.ts';
import { type ServiceFront, independentSandbox, startServiceFront, SANDBOX_KEY } from '../servers/service-front.ts';
import { ownName } from '../files/batch-file.ts';
import { join } from 'node:path';
import { openPostgresLedger } from '../../../src/ledger/database/postgres/open-postgres-ledger.ts';
import { openPgliteLedger } from '../../../src/ledger/database/pglite/open-pglite-ledger.ts';
import { LEDGER_TEMPLATES, temporaryLedger } from '../servers/temporary-database.ts';
import { postgresUrl, postgresSchema } from '../servers/postgres-database.ts';

export interface StackOptions {
  readonly sandbox?: Partial<SandboxOptions>;
  /** LOTE_* settings; times are long unless told. */
  readonly env?: Readonly<Record<string, string>>;
  /** `none`: no address is registered, so GET alone settles. Default: deliveries come. */
  readonly webhooks?: 'on' | 'none';
  /** `lost`: the receiver stores deliveries and no page ever hears of them. */
  readonly signals?: 'on' | 'lost';
  /** Merged over the default service profile. */
  readonly profile?: Readonly<Record<string, unknown>>;
  /** A service of the test's own, in place of sandbox and front. */
  readonly service?: { readonly url: string; readonly key: string };
  /** Port of the receiver; left out: any that is free. */
  readonly receiverPort?: number;
  /** `false`: as on a server that has no search attributes of ours. */
  readonly searchable?: boolean;
  /** What leaves is noted in the reports folder, as a worker does. Left out: it is not. */
  readonly sendLog?: boolean;
  /** `false`: the service profile is not proved yet, as at the first batch of an installation. */
  readonly isProved?: boolean;
  /** Default: PostgreSQL where the machine has it (a schema is made in a moment), else PGlite. */
  readonly ledger?: 'pglite' | 'postgres';
  /** A PostgreSQL server of the test's own, which it may stop, fill or make read-only. */
  readonly databaseUrl?: string;
  /** An embedded ledger on a disk of the test's own. */
  readonly ledgerDir?: string;
}

/** Long enough that no machine is too slow for them; a test that waits for one of them sets its own. */
const TIMES = {
  LOTE_SETTLE_TIMEOUT: '10m',
  LOTE_SEND_TIMEOUT: '10m',
  LOTE_OUTAGE_PATIENCE: '10m',
  LOTE_PAGE_SIZE: '50',
  LOTE_LOG_LEVEL: 'warn',
};

type Parts = ReturnType<typeof startedParts>;

/** As after the first batch: every word of the profile was seen to agree. */
export async function prove(ledger: Ledger, config: Config, { invoice, event }: ServiceProfile): Promise<void> {
  const answers = [...invoice.issued, ...invoice.failed].map((word) => `answer ${word.toLowerCase()}`);
  const events = event.issued.map((type) => `event ${type.toLowerCase()}`);
  await ledger.calibrate(profileDigestOf(config, readProfile(config)), (draft) =>
    Object.assign(draft, { opened: Date.now(), proved: [...answers, ...events, 'failed event'] }),
  );
}

/** The sandbox with a front before it, or what the test brings along. */
export async function openTestService(options: StackOptions, parts: Parts) {
  if (options.service !== undefined)
    return { sandbox: absent<Sandbox>('sandbox'), front: absent<ServiceFront>('front'), service: options.service };
  const sandbox = await independentSandbox({ settleMs: 20, ...options.sandbox });
  parts.add('sandbox', () => sandbox.close());
  const front = await startServiceFront(sandbox.url);
  parts.add('front', () => front.close());
  return { sandbox, front, service: { url: front.url, key: SANDBOX_KEY } };
}

/** A test that brings its own service and asks for this part is wrong. */
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
