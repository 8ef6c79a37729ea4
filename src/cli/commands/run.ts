import { bringIn } from '../../wiring/files/input-files.ts';
import { namedFiles } from '../../wiring/files/named-file.ts';
import { requireProfile } from '../../wiring/files/read-with-profile.ts';
import type { ExitCode } from '../output/exit-codes.ts';
import { requireOneFileForTotals } from '../session/expectations.ts';
import { chosenApplication } from '../session/chosen-application.ts';
import { printResults } from '../output/print-results.ts';
import type { RunCommand } from '../session/run/run-command.ts';

/** `lote run FILE…`: start, progress, wait, summary. Boots what is not there and takes it down again. */
export async function runCommand(given: RunCommand): Promise<ExitCode> {
  const chosen = chosenApplication(given.env, given.application ?? null);
  const { config } = chosen;
  const command = { ...given, files: await namedFiles(config.inputDir, given.files) };
  requireOneFileForTotals(command.files, command.options);
  for (const file of command.files) await requireProfile(config.inputDir, file, command.options);
  for (const file of command.files) await bringIn(config.inputDir, file);
  // Loaded only now: what is wrong with the files is told in a third of the time.
  if (config.databaseUrl !== null && config.temporal.address !== null) {
    const { runAsClient } = await import('../session/run/run-as-client.ts');
    return printResults(await runAsClient(config, command), command.json);
  }
  const { runEmbedded } = await import('../session/run/run-embedded.ts');
  return runEmbedded(chosen, command);
}
