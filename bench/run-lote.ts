import { join } from 'node:path';
import { writeInvoiceFile } from '../test/support/files/batch-file.ts';
import { ownPort } from '../test/support/servers/own-port.ts';
import { runChild } from './child.ts';
import { startDeployedPostgres } from './deployed-postgres.ts';
import type { LoteMeasure } from './issue-table.ts';
import { COUNTING_STATEMENTS, forgetStatements, statementTable } from './measures/statement-times.ts';
import type { LedgerKind } from './options.ts';
import { printTable } from './print-table.ts';
import type { LoteInput, LoteRun } from './processes/lote-process.ts';

export interface LotePlace {
  readonly ledger: LedgerKind;
  /** null: the embedded ledger. */
  readonly databaseUrl: string | null;
  readonly databasePid: number | null;
  readonly sandboxUrl: string;
  /** Of this run's own: input, reports, data. */
  readonly directory: string;
  readonly invoices: number;
  readonly profileDir: string | null;
  /** More of its environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Runs after the first night. */
  readonly beforeMeasured?: () => Promise<void>;
  /** Is given the id of each process that is started. */
  readonly onStart?: (pid: number) => void;
  readonly metrics: boolean;
  /** The Node that it runs on. */
  readonly node: string;
  /** How long it rests after the second night, to measure what it costs then; left out: not at all. */
  readonly restMs?: number;
  /** Left out: false. */
  readonly timeline?: boolean;
}

type Night = Pick<LoteInput, 'restMs' | 'timeline'> & Pick<LotePlace, 'profileDir'>;

/** The environment of a Lote with its folders below a directory, at a service; its files lie in `input`. */
export async function loteEnv(directory: string, serviceUrl: string) {
  const port = await ownPort();
  return {
    LOTE_INPUT_DIR: join(directory, 'input'),
    LOTE_REPORTS_DIR: join(directory, 'reports'),
    LOTE_DATA_DIR: join(directory, 'data'),
    INVOICING_BASE_URL: serviceUrl,
    RECEIVER_PORT: String(port),
    WEBHOOK_URL: `http://127.0.0.1:${port}/webhooks`,
    CONSOLE_PORT: '0',
  };
}

/** Makes directory, ledger and merchants, so that what is measured is a second night and not a first start. */
const FIRST_NIGHT_INVOICES = 100;

export async function runLote(place: LotePlace): Promise<LoteMeasure> {
  const inputDir = join(place.directory, 'input');
  await writeInvoiceFile(join(inputDir, 'first-night.csv'), { invoices: FIRST_NIGHT_INVOICES });
  await writeInvoiceFile(join(inputDir, 'second-night.csv'), { invoices: place.invoices, firstOrdinal: 1_000_001 });
  const env = {
    ...(await loteEnv(place.directory, place.sandboxUrl)),
    INVOICING_API_KEY: `sk_test_lote-${place.ledger}`,
    LOTE_LOG_LEVEL: 'warn',
    ...(place.metrics && { METRICS_PORT: '0' }),
    ...(place.databaseUrl === null ? {} : { DATABASE_URL: place.databaseUrl }),
    ...place.env,
  };
  const night = (file: string, { profileDir, restMs, timeline = false }: Night) =>
    runChild<LoteRun>({
      file: 'lote-process.ts',
      input: { file, restMs, databasePid: place.databasePid, timeline } satisfies LoteInput,
      ...{ env, profileDir, node: place.node },
      ...(place.onStart === undefined ? {} : { onStart: place.onStart }),
    });
  await night('first-night.csv', { profileDir: null, restMs: 0 });
  await place.beforeMeasured?.();
  const { profileDir, restMs = 0, timeline = false } = place;
  const run = await night('second-night.csv', { profileDir, restMs, timeline });
  if (run.counts['issued'] !== place.invoices)
    throw new Error(`Lote on ${place.ledger}: every invoice must be issued, found ${JSON.stringify(run.counts)}`);
  return { ...run, ledger: place.ledger };
}

/**
 * Runs Lote on a ledger of its own; with `statements` on PostgreSQL, prints what each statement took on the server. Null: this
 * machine has no PostgreSQL.
 */
export async function runLoteOn(
  ledger: LedgerKind,
  statements: boolean,
  place: Omit<LotePlace, 'ledger' | 'databaseUrl' | 'databasePid' | 'beforeMeasured'>,
): Promise<LoteMeasure | null> {
  const cluster = ledger === 'postgres' ? await startDeployedPostgres(statements ? COUNTING_STATEMENTS : {}) : null;
  if (ledger === 'postgres' && cluster === null) return null;
  const counted = statements && cluster !== null ? cluster.url : null;
  try {
    const measured = await runLote({
      ...{ ...place, ledger, databaseUrl: cluster?.url ?? null, databasePid: cluster?.pid ?? null },
      ...(counted !== null && { beforeMeasured: () => forgetStatements(counted) }),
    });
    if (counted !== null) printTable(await statementTable(counted, place.invoices));
    return measured;
  } finally {
    await cluster?.stop();
  }
}
