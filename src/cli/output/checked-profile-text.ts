import type { ProfileDifference } from '../../service-profile/check/differences.ts';
import { mistakeText, type ProfileMistake } from '../../service-profile/check/profile-mistake.ts';

const LONGEST_VALUE = 80;

/** What was found in the file of a service profile. */
export interface ShownProfile {
  readonly file: string;
  readonly mistakes: readonly ProfileMistake[];
  /** Empty when there are mistakes. */
  readonly differences: readonly ProfileDifference[];
}

/** What `lote profile check` says to a person: a line for each mistake, or for each setting that is not the default. */
export function checkedProfileText({ file, mistakes, differences }: ShownProfile): string {
  if (mistakes.length > 0)
    return linesOf(
      `${file}: ${mistakes.length} ${mistakes.length === 1 ? 'mistake' : 'mistakes'}`,
      mistakes.map(mistakeText),
    );
  if (differences.length === 0) return linesOf(`${file}: valid, the same as the default`, []);
  const count = `${differences.length} ${differences.length === 1 ? 'setting differs' : 'settings differ'}`;
  return linesOf(`${file}: valid, ${count} from the default`, differenceLines(differences));
}

function linesOf(head: string, lines: readonly string[]): string {
  return [head, ...lines.map((line) => `  ${line}`), ''].join('\n');
}

function differenceLines(differences: readonly ProfileDifference[]): readonly string[] {
  const rows = differences.map(({ key, value, default: byDefault }) => [key, shown(value), shown(byDefault)] as const);
  const width = (column: 0 | 1): number => Math.max(...rows.map((row) => row[column].length));
  return rows.map(
    ([key, value, byDefault]) => `${key.padEnd(width(0))}  ${value.padEnd(width(1))}  (default ${byDefault})`,
  );
}

function shown(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE)}…` : text;
}
