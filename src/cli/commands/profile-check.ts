import { resolve } from 'node:path';
import { LoteError } from '../../domain/errors.ts';
import { readConfig } from '../../app/config/config.ts';
import { checkProfile, mistakeText, type ProfileMistake } from '../../service/profile/check-profile.ts';
import { schemaText, settingsOf, type Setting } from '../../service/profile/json-schema.ts';
import { profileText } from '../../app/account/read-profile.ts';
import { printResult, tableLines } from '../output/terminal-text.ts';
import type { LiveCheckCommand } from './profile-check-live.ts';
import { EXIT, type ExitCode } from '../output/exit-codes.ts';

const LONGEST_VALUE = 80;

/** The findings in the file of a service profile. */
interface ShownProfile {
  readonly file: string;
  readonly mistakes: readonly ProfileMistake[];
  /** Empty when there are mistakes. */
  readonly differences: readonly Pick<Setting, 'key' | 'value' | 'default'>[];
}

/** Formats the output of `lote profile check`: a line for each mistake, or for each setting that differs from the default. */
function checkedProfileText({ file, mistakes, differences }: ShownProfile): string {
  const lines: string[] = [];
  if (mistakes.length > 0) {
    lines.push(`${file}: ${mistakes.length} ${mistakes.length === 1 ? 'mistake' : 'mistakes'}`);
    lines.push(...mistakes.map((one) => `  ${mistakeText(one)}`));
  } else if (differences.length === 0) lines.push(`${file}: valid, the same as the default`);
  else {
    const count = `${differences.length} ${differences.length === 1 ? 'setting differs' : 'settings differ'}`;
    const rows = differences.map((one) => [one.key, shown(one.value), `(default ${shown(one.default)})`]);
    lines.push(`${file}: valid, ${count} from the default`, ...tableLines(rows).map((line) => `  ${line}`));
  }
  return [...lines, ''].join('\n');
}

function shown(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE)}…` : text;
}

/** `lote profile check [FILE]`: without `--live`, nothing leaves the machine. */
export async function profileCheckCommand(
  env: NodeJS.ProcessEnv,
  given: Pick<LiveCheckCommand, 'file' | 'json'> | (LiveCheckCommand & { readonly live: true }),
): Promise<ExitCode> {
  if ('live' in given) return (await import('./profile-check-live.ts')).profileCheckLiveCommand(env, given);
  const { file, json } = given;
  const path = file === undefined ? configuredPath(env) : resolve(file);
  const { profile, mistakes } = checkProfile(profileText(path, file === undefined ? 'SERVICE_PROFILE' : 'FILE'));
  const settings = profile === null ? [] : settingsOf(profile).filter(({ differs }) => differs);
  const differences = settings.map(({ key, value, default: byDefault }) => ({ key, value, default: byDefault }));
  const checked = { file: path, mistakes, differences };
  printResult(json, { valid: profile !== null, ...checked }, () => checkedProfileText(checked));
  return profile === null ? EXIT.usage : EXIT.ok;
}

function configuredPath(env: NodeJS.ProcessEnv): string {
  const { serviceProfilePath } = readConfig(env, process.cwd(), 'nothing');
  if (serviceProfilePath !== null) return serviceProfilePath;
  throw new LoteError(
    'usage',
    'Checking a service profile: expected a file, or its path in SERVICE_PROFILE, found neither. Name one: `lote profile check FILE`.',
  );
}

/** `lote profile schema`: prints the JSON Schema of a service profile. */
export async function profileSchemaCommand(): Promise<ExitCode> {
  process.stdout.write(schemaText());
  return EXIT.ok;
}
