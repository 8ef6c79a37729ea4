import { examine } from '../../health/doctor/doctor.ts';
import { EXIT, type ExitCode } from '../output/exit-codes.ts';
import { printResult } from '../output/terminal-text.ts';
import type { Check } from '../../health/doctor/check.ts';

const WORDS = { ok: 'ok', trouble: 'TROUBLE', unknown: '?' } as const;

/** Formats the output of `lote doctor`: a line for each check with its cure below, and how many must be mended. */
export function doctorTable(checks: readonly Check[]): string {
  const width = Math.max(...checks.map(({ name }) => name.length));
  const indent = ' '.repeat(width + 'TROUBLE'.length + 4);
  const lines = checks.flatMap(({ name, state, detail, cure }) => [
    `${name.padEnd(width)}  ${WORDS[state].padEnd('TROUBLE'.length)}  ${detail.replaceAll('\n', `\n${indent}`)}`,
    ...(cure === null ? [] : [`${indent}-> ${cure}`]),
  ]);
  const count = checks.filter(({ state }) => state === 'trouble').length;
  const end = count === 0 ? 'Nothing must be mended.' : `${count} of ${checks.length} checks must be mended (TROUBLE).`;
  return [...lines, '', end, ''].join('\n');
}

/** `lote doctor`: sends nothing and changes nothing. Exit code 1 means that something must be mended. */
export async function doctorCommand(env: NodeJS.ProcessEnv, { json }: { readonly json: boolean }): Promise<ExitCode> {
  const checks = await examine(env);
  const isWell = checks.every(({ state }) => state !== 'trouble');
  printResult(json, { well: isWell, checks }, () => doctorTable(checks));
  return isWell ? EXIT.ok : EXIT.someNotIssued;
}
