import { LoteError } from '../../domain/errors.ts';
import { proposeProfile } from '../../ingest/profile/propose-profile.ts';
import type { Config } from '../../runtime/config/config.ts';
import type { BodyTemplate } from '../../service-profile/body-template.ts';
import { namedFiles } from '../../wiring/files/named-file.ts';
import { checkFile, type CheckedFile, type CheckOptions } from '../../wiring/files/check-file.ts';
import { checkText } from '../output/check-text.ts';
import { EXIT, type ExitCode } from '../output/exit-codes.ts';
import { chosenApplication } from '../session/chosen-application.ts';
import { requireOneFileForTotals } from '../session/expectations.ts';

export interface CheckCommand {
  readonly files: readonly string[];
  readonly json: boolean;
  /** Print a starting profile instead. */
  readonly propose: boolean;
  readonly options: CheckOptions;
  /** `--application`; left out: there is one. */
  readonly application?: string;
  readonly env: NodeJS.ProcessEnv;
}

/** `lote check FILE…`: a dry run. Nothing leaves the machine. */
export async function checkCommand(command: CheckCommand): Promise<ExitCode> {
  const { files, json, options } = command;
  if (command.propose) return propose(files, options);
  requireOneFileForTotals(files, options);
  const { config } = chosenApplication(command.env, command.application ?? null);
  const bodyTemplate = await bodyTemplateOf(config);
  const checked: CheckedFile[] = [];
  for (const file of await namedFiles(config.inputDir, files))
    checked.push(await checkFile(file, config.inputDir, { ...options, bodyTemplate }));
  process.stdout.write(
    json ? `${JSON.stringify({ files: checked })}\n` : `${checked.map((file) => checkText(file)).join('\n\n')}\n`,
  );
  if (checked.some((file) => file.refused)) return EXIT.refused;
  return checked.some((file) => file.invalid > 0 || file.rowsLost > 0 || file.gate !== null)
    ? EXIT.someNotIssued
    : EXIT.ok;
}

/** A mistake in it is found here, and not by the run. What reads it is loaded only when there is one. */
async function bodyTemplateOf(config: Config): Promise<BodyTemplate> {
  if (config.serviceProfilePath === null) return null;
  const { readProfile } = await import('../../wiring/account/read-profiles.ts');
  return readProfile(config).requests.createInvoice.body;
}

async function propose(files: readonly string[], { encoding, delimiter }: CheckOptions): Promise<ExitCode> {
  const [file, more] = files;
  if (file === undefined || more !== undefined)
    throw new LoteError('usage', `Proposing a profile: expected one file, found ${files.length}.`);
  const proposed = await proposeProfile(file, {
    ...(encoding === undefined ? {} : { encoding }),
    ...(delimiter === undefined ? {} : { delimiter }),
  });
  if (proposed === null) {
    process.stderr.write(
      'lote: no table with a header was found, so there is no profile to propose. The same command without --propose says what the file is.\n',
    );
    return EXIT.refused;
  }
  process.stdout.write(`${JSON.stringify(proposed, null, 2)}\n`);
  return EXIT.ok;
}
