import { LoteError } from '../../domain/errors.ts';
import { givenOnly } from '../../domain/given-only.ts';
import { readConfig, type Config } from '../../app/config/config.ts';
import type { MappedFile } from '../../console/console-options.ts';
import { requireProfileName } from '../../ingest/profile/mapping-profile.ts';
import { mapFile, writeProfile, type MappingRequest } from '../../app/files/map-file.ts';
import { namedFiles } from '../../app/files/input-files.ts';
import { checkFile, type CheckedFile } from '../../app/files/check-file.ts';
import { checkText, mappingText } from '../output/check-text.ts';
import { EXIT, type ExitCode } from '../output/exit-codes.ts';
import { requireOneFileForTotals, type ReadingCommand } from '../session/expectations.ts';
import { printResult } from '../output/terminal-text.ts';

/** Arguments of `lote check`. `saveProfile` is the name of the mapping profile to save. */
export type CheckCommand = ReadingCommand & { readonly saveProfile?: string };

/** `lote check FILE…`: a dry run. Nothing leaves the machine. */
export async function checkCommand(env: NodeJS.ProcessEnv, command: CheckCommand): Promise<ExitCode> {
  const { files: names, json, saveProfile: name, ...options } = command;
  requireOneFileForTotals(names, options);
  const config = readConfig(env);
  const { inputDir } = config;
  const bodyTemplate = await bodyTemplateOf(config);
  const files = await namedFiles(inputDir, names);
  const { encoding, delimiter, sheet, decimal } = options;
  const declared = givenOnly({ encoding, delimiter, sheet, decimal });
  const choices = { ...declared, meanings: new Map(), constants: {}, taxCodes: new Map() };
  const requestOf = (path: string): MappingRequest => ({ path, inputDir, bodyTemplate, choices });
  const profile = name === undefined ? {} : { profile: await saveProfile(name, files, requestOf) };
  const checked: ShownFile[] = [];
  for (const file of files) {
    const result = await checkFile(file, inputDir, { ...options, ...profile, bodyTemplate });
    const mapping = isOpen(result) ? await mapFile(requestOf(file)) : null;
    checked.push(mapping === null ? result : { ...result, mapping });
  }
  printResult(json, { files: checked }, () => `${checked.map(textOf).join('\n\n')}\n`);
  if (checked.some((file) => file.refused)) return EXIT.refused;
  return checked.some((file) => file.invalid > 0 || file.rowsLost > 0 || file.gate !== null)
    ? EXIT.someNotIssued
    : EXIT.ok;
}

type ShownFile = CheckedFile & { readonly mapping?: MappedFile };

function textOf({ mapping, ...file }: ShownFile): string {
  return mapping === undefined ? checkText(file) : `${checkText(file)}\n${mappingText(file.file, mapping)}`;
}

/** Reads the body template of the service profile, so that `check` finds a mistake in the profile before a run does. Loads the reader only if needed. */
async function bodyTemplateOf(config: Config): Promise<unknown> {
  if (config.serviceProfilePath === null) return null;
  const { readProfile } = await import('../../app/account/read-profile.ts');
  return readProfile(config).requests.createInvoice.body;
}

/** Refusals that a person resolves by giving the meaning of the columns. */
const OPEN_LAYOUT = ['layout-unconfirmed', 'header-missing', 'column-missing', 'column-duplicate'];

function isOpen({ refused, findings, proof }: CheckedFile): boolean {
  return refused && OPEN_LAYOUT.includes(findings[0]?.code ?? '') && proof['profile'] === undefined;
}

/** Saves the proposed mapping of the single named file, which `check` then reads with it. A person completes it in an editor. @throws LoteError `usage` */
async function saveProfile(
  name: string,
  files: readonly string[],
  requestOf: (file: string) => MappingRequest,
): Promise<string> {
  const [file, more] = files;
  requireProfileName(name);
  if (file === undefined || more !== undefined)
    throw new LoteError('usage', `Saving a mapping profile: expected one file, found ${files.length}.`);
  const request = requestOf(file);
  const mapped = await mapFile(request);
  if (mapped === null)
    throw new LoteError(
      'usage',
      `Saving a mapping profile for ${file}: nothing was saved, because no table with a header was found.`,
    );
  const path = await writeProfile(request.inputDir, name, mapped.profile);
  process.stderr.write(`lote: saved ${path}; files with these columns are read with it from now on\n`);
  return name;
}
