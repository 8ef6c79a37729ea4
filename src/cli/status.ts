import { LoteError } from '../domain/errors.ts';
import type { Ledger } from '../domain/ports/ledger.ts';
import { readConfig } from '../runtime/config.ts';
import { openDataDir } from '../runtime/data-dir.ts';
import { acquireDirectoryLock } from '../runtime/directory-lock.ts';
import { openLedger } from '../wiring/open-ledger.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';

const BATCHES_SHOWN = 50;

export interface StatusCommand {
  readonly batchId: string | null;
  readonly json: boolean;
  readonly env: NodeJS.ProcessEnv;
}

/** `lote status [BATCH]`: what the ledger says. */
export async function statusCommand({ batchId, json, env }: StatusCommand): Promise<ExitCode> {
  const config = readConfig(env);
  const dataDir = await openDataDir(config.dataDir);
  const lock = config.databaseUrl === null ? await acquireDirectoryLock(dataDir.path) : null;
  if (lock === null && config.databaseUrl === null) {
    throw new LoteError(
      'data-directory-owned',
      `Another process owns ${config.dataDir}: ask it through the Temporal UI, or stop it first.`,
    );
  }
  const ledger = await openLedger({ databaseUrl: config.databaseUrl, directory: dataDir.ledger });
  try {
    const rows = await statusRows(ledger, batchId);
    process.stdout.write(json ? `${JSON.stringify({ batches: rows })}\n` : rows.map((row) => line(row)).join(''));
    return EXIT.ok;
  } finally {
    await ledger.close();
    await lock?.release();
  }
}

interface StatusRow {
  readonly id: string;
  readonly file: string;
  readonly state: string;
  readonly counts: Readonly<Record<string, number>>;
}

async function statusRows(ledger: Ledger, batchId: string | null): Promise<readonly StatusRow[]> {
  const one = batchId === null ? null : await ledger.findBatch(batchId);
  if (batchId !== null && one === null)
    throw new LoteError(
      'batch-not-found',
      `The ledger knows no batch ${batchId}. \`lote status\` lists the batches it knows.`,
    );
  const batches = one === null ? await ledger.listBatches(BATCHES_SHOWN) : [one];
  const rows: StatusRow[] = [];
  for (const { batchId: id, file, state } of batches) {
    const counts: Record<string, number> = {};
    for (const { outcome, invoices } of await ledger.countOutcomes(id))
      counts[outcome] = (counts[outcome] ?? 0) + invoices;
    rows.push({ id, file, state, counts });
  }
  return rows;
}

function line({ id, state, counts }: StatusRow): string {
  const shown = Object.entries(counts)
    .map(([outcome, count]) => `${outcome} ${count}`)
    .join(', ');
  return `${id.padEnd(52)} ${state.padEnd(10)} ${shown}\n`;
}
