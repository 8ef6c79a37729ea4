import { LoteError } from '../../domain/errors.ts';
import { readConfig } from '../../app/config/config.ts';
import { bringIn } from '../../app/files/input-files.ts';
import { namedFiles } from '../../app/files/input-files.ts';
import { requireProfile } from '../../app/files/read-with-profile.ts';
import type { ExitCode } from '../output/exit-codes.ts';
import { printResults } from '../output/summary-table.ts';
import { requireOneFileForTotals, type ReadingCommand } from '../session/expectations.ts';
import type { Session } from '../session/open-session.ts';
import type { WorkSession } from '../session/work-session.ts';

const INTERRUPTED = {
  own: 'Interrupted: nothing more was sent, and the requests on the wire have been answered or given up. The same command goes on where this one stopped.',
  owner:
    'Interrupted: the process that owns the data directory goes on with the batch. `lote status` tells where it stands.',
  shared: 'Interrupted: the workers go on with the batch. `lote status` tells where it stands.',
} as const;

/**
 * `lote run FILE…`: starts the files, shows progress, waits, prints a summary. Starts missing parts and stops them again. With
 * `onlyAtSandbox`, no process that uses a real service gets the files, because they are of no real merchant.
 */
export async function runCommand(
  env: NodeJS.ProcessEnv,
  { files: names, json, ...options }: ReadingCommand,
  onlyAtSandbox = false,
): Promise<ExitCode> {
  const config = readConfig(env);
  const files = await namedFiles(config.inputDir, names);
  requireOneFileForTotals(files, options);
  for (const file of files) await requireProfile({ inputDir: config.inputDir, file, options });
  for (const file of files) await bringIn(config.inputDir, file);
  // Loads these modules only now, so that Lote reports wrong files in a third of the time.
  const { withWork } = await import('../session/work-session.ts');
  const { followBatches } = await import('../session/follow-batches.ts');
  const interrupted = (place: Session['place']): string => INTERRUPTED[place];
  return withWork({ json, env, config, startsFiles: true, interrupted }, async (session) => {
    if (onlyAtSandbox) requireSandboxOf(session);
    return printResults(await followBatches(session, await session.start(files, options)), json);
  });
}

/** Refuses an owner that works at a real service: the owner uses its own settings, not the environment of this command. */
function requireSandboxOf({ owner }: WorkSession): void {
  if (owner === undefined || owner.endpoints.sandbox !== null) return;
  throw new LoteError(
    'usage',
    `Running files at the built-in sandbox: the process that owns the data directory (${owner.endpoints.pid} where it runs) must work at the built-in sandbox, too, but it works at a real service. Nothing was handed over. Run the command in an empty directory.`,
  );
}
