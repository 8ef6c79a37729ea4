import { chooseApplication, readInstallation } from '../../../runtime/config/installation.ts';
import { withBatchReader, type BatchReader, type ReadBatch } from '../../../wiring/reports/batch-reader.ts';
import { markStuck } from '../../../wiring/temporal/stuck/mark-stuck.ts';
import { batchNotFound } from '../../session/batch-not-found.ts';
import { EXIT, type ExitCode } from '../../output/exit-codes.ts';
import { misfitLines, statusOf, statusTable } from '../../output/status-text.ts';

const BATCHES_SHOWN = 50;

export interface StatusCommand {
  readonly batchId: string | null;
  readonly json: boolean;
  /** Only the batches of this application; left out: of all. */
  readonly application?: string;
  readonly env: NodeJS.ProcessEnv;
}

/** `lote status [BATCH]`: what the ledger says, also while another process works on it. */
export async function statusCommand({ batchId, json, env, application }: StatusCommand): Promise<ExitCode> {
  const installation = readInstallation(env);
  const config = installation.common;
  const whose = application === undefined ? null : chooseApplication(installation, application).application;
  const { batches, misfits } = await withBatchReader(installation, async (reader) => ({
    batches: await markStuck(config, reader, await batchesOf(reader, batchId, whose)),
    misfits: (await reader.misfits()).filter(
      ({ application: owner }) => whose === null || owner === undefined || owner === whose,
    ),
  }));
  const rows = batches.map(
    ({ batchId: id, file, state, counts, stuck, application: owner, rowsLost, totalsDiffer, contradicted = 0 }) => ({
      ...{ id, file, state, counts },
      ...(installation.several ? { application: owner } : {}),
      ...(rowsLost === undefined ? {} : { rowsLost }),
      ...(totalsDiffer === undefined || totalsDiffer === null ? {} : { totalsDiffer }),
      ...(contradicted === 0 ? {} : { contradicted }),
      ...(stuck === undefined ? {} : { stuck }),
    }),
  );
  const text = batchId === null ? statusTable(batches, installation.several) : textOf(batches, installation.several);
  process.stdout.write(
    json
      ? `${JSON.stringify({ batches: rows, ...(misfits.length > 0 && { misfits }) })}\n`
      : text + misfitLines(misfits),
  );
  return EXIT.ok;
}

async function batchesOf(
  reader: BatchReader,
  batchId: string | null,
  application: string | null,
): Promise<readonly ReadBatch[]> {
  if (batchId === null) return reader.list(BATCHES_SHOWN, application);
  const one = await reader.find(batchId);
  if (one === null) throw batchNotFound(batchId, await reader.list(BATCHES_SHOWN));
  return [one];
}

function textOf(batches: readonly ReadBatch[], several: boolean): string {
  return batches.map((batch) => statusOf(batch, several)).join('');
}
