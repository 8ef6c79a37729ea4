import { join } from 'node:path';
import { writeInvoiceFile } from '../../test/support/files/batch-file.ts';
import { startDeployedPostgres } from '../deployed-postgres.ts';
import { watchMemory } from '../measures/memory-watch.ts';
import { loteEnv } from '../run-lote.ts';
import { startSandbox } from '../sandbox.ts';
import { startLote } from './lote-command.ts';

export interface BatchMemory {
  readonly invoices: number;
  readonly wallMs: number;
  readonly loteMb: number;
  readonly postgresMb: number;
  readonly temporalMb: number;
}

/**
 * `lote run` of one file on a PostgreSQL of its own, against a service in another process, which does not count. Null: this machine has no
 * PostgreSQL.
 */
export async function measureBatchMemory(
  directory: string,
  { invoices, node }: { readonly invoices: number; readonly node: string },
): Promise<BatchMemory | null> {
  const cluster = await startDeployedPostgres();
  if (cluster === null) return null;
  const sandbox = await startSandbox();
  const database = watchMemory(() => [cluster.pid]);
  try {
    const file = join(directory, 'input', 'batch.csv');
    await writeInvoiceFile(file, { invoices });
    const run = startLote(node, ['run', file, '--json'], {
      ...(await loteEnv(directory, sandbox.first.url)),
      ...{ DATABASE_URL: cluster.url, INVOICING_API_KEY: 'sk_test_footprint' },
    });
    requireAllIssued(await run.done, invoices);
    const { lote, temporal } = run.memory.peak;
    const wallMs = Date.now() - run.startedAt;
    return { invoices, wallMs, loteMb: lote, temporalMb: temporal, postgresMb: database.peakOfAll };
  } finally {
    await database.stop();
    await sandbox.end();
    await cluster.stop();
  }
}

function requireAllIssued(output: string, invoices: number): void {
  const { batches } = JSON.parse(output) as { batches: readonly { counts: Readonly<Record<string, number>> }[] };
  const counts = batches[0]?.counts ?? {};
  if (counts['issued'] === invoices) return;
  throw new Error(`Measuring a batch of ${invoices}: every invoice must be issued, found ${JSON.stringify(counts)}`);
}
