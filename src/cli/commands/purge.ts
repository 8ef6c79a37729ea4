import { LoteError } from '../../domain/errors.ts';
import { readConfig } from '../../app/config/config.ts';
import { durationMs } from '../../app/config/env-schema.ts';
import { EXIT, type ExitCode } from '../output/exit-codes.ts';
import { printResult } from '../output/terminal-text.ts';
import { withSession } from '../session/open-session.ts';
import { SHORTEST_PURGE_AGE_MS } from '../../console/operations.ts';
import type { Purged } from '../../ledger/operations/purge.ts';

/** `olderThan`: a duration such as `400d`. */
interface PurgeCommand {
  readonly olderThan: string;
  readonly dryRun: boolean;
  readonly json: boolean;
}

/** `lote purge --older-than 400d`: deletes the content of old batches, also while batches run. */
export async function purgeCommand(
  env: NodeJS.ProcessEnv,
  { olderThan, json, dryRun }: PurgeCommand,
): Promise<ExitCode> {
  const request = { olderThanMs: ageOf(olderThan), dryRun };
  const config = readConfig(env, process.cwd(), 'nothing');
  const purged = await withSession(config, ({ operations }) => operations.purge(request));
  printResult(json, { dryRun, purged }, () => textOf(purged, dryRun));
  return EXIT.ok;
}

function textOf(purged: Purged, dryRun: boolean): string {
  const { batches, contents, bodies, findings, deliveries, staying } = purged;
  const left = stayingText(staying);
  if (batches.length + contents + bodies + findings + deliveries === 0)
    return ['Nothing to purge.', ...left, ''].join('\n');
  return [
    `${dryRun ? 'Would purge' : 'Purged'} ${batches.length} batches:`,
    `  contents of invoices   ${contents}`,
    `  bodies of requests     ${bodies}`,
    `  findings               ${findings}`,
    `  unreadable deliveries  ${deliveries}`,
    `  copies of files        ${batches.length}`,
    'Keys, fingerprints, states and reports stay. Dropped files under the input directory are yours to remove.',
    ...left,
    ...(dryRun ? ['Nothing was removed. Give the command without --dry-run to purge.'] : []),
    '',
  ].join('\n');
}

function stayingText(staying: Purged['staying']): string[] {
  if (staying.length === 0) return [];
  return [
    `Batches of that age stay as they are (${staying.length}), because they have not ended, or invoices of them may still go:`,
    ...staying.map(({ batchId, state, invoices }) => `  ${batchId} (${state}, ${invoices} invoices not at their end)`),
    'Their reports say what to do: a retry, a reconciliation or a corrected file ends such invoices; a batch that is paused is resumed or cancelled in the console.',
  ];
}

function ageOf(text: string): number {
  const value = durationMs(text);
  if (value >= SHORTEST_PURGE_AGE_MS) return value;
  throw new LoteError(
    'usage',
    `Purging: --older-than must be a duration of at least a day, with its unit, such as 400d, found ${JSON.stringify(text)}.`,
  );
}
