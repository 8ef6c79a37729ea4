import type { Check } from '../../wiring/doctor/check.ts';
import { inBrief } from '../../wiring/doctor/in-brief.ts';

const WORDS = { ok: 'ok', trouble: 'TROUBLE', unknown: '?' } as const;

/**
 * What `lote doctor` prints: a line for each check, below it what to do, and how many must be mended. Of several
 * applications, each that is well has one line.
 */
export function doctorTable(checks: readonly Check[]): string {
  const shown = inBrief(checks);
  const width = Math.max(...shown.map(({ name }) => name.length));
  const indent = ' '.repeat(width + 'TROUBLE'.length + 4);
  const lines = shown.flatMap(({ name, state, detail, cure }) => [
    `${name.padEnd(width)}  ${WORDS[state].padEnd('TROUBLE'.length)}  ${detail.replaceAll('\n', `\n${indent}`)}`,
    ...(cure === null ? [] : [`${indent}-> ${cure}`]),
  ]);
  const count = checks.filter(({ state }) => state === 'trouble').length;
  const end = count === 0 ? 'Nothing must be mended.' : `${count} of ${checks.length} checks must be mended (TROUBLE).`;
  return [...lines, '', end, ''].join('\n');
}
