import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Mutant } from './mutants.ts';
import type { Results } from './results.ts';

/** As much of a text as a line of the report shows. */
const SHOWN = 100;

/** The score by file, and the mutants that no test noticed, as lines. */
export function reportOf(root: string, mutants: readonly Mutant[], results: Results): readonly string[] {
  const killed = results.killed();
  const coverage = results.allCoverage();
  const passed = new Set(
    coverage.flatMap((one) => [one.static, ...Object.values(one.perTest)].flatMap((ids) => Object.keys(ids))),
  );
  const left = mutants.filter(({ id }) => !killed.has(id));
  const files = [...new Set(mutants.map(({ fileName }) => fileName))];
  return [
    ...left.map((mutant) => `${passed.has(mutant.id) ? 'survived' : 'no test '} ${shown(root, mutant)}`),
    ...files.map((name) =>
      scoreOf(
        name,
        mutants.filter(({ fileName }) => fileName === name),
        killed,
      ),
    ),
    ...[...results.unfit()].map((test) => `fails when it is repeated, and judged nothing: ${test}`),
    scoreOf('all', mutants, killed),
  ];
}

function scoreOf(name: string, mutants: readonly Mutant[], killed: ReadonlySet<string>): string {
  const noticed = mutants.filter(({ id }) => killed.has(id)).length;
  return `${name}: ${noticed} of ${mutants.length} noticed, ${((100 * noticed) / Math.max(1, mutants.length)).toFixed(1)} %`;
}

function shown(root: string, { fileName, location: { start, end }, mutatorName, replacement }: Mutant): string {
  const line = readFileSync(join(root, fileName), 'utf8').split('\n')[start.line] ?? '';
  const before = start.line === end.line ? line.slice(start.column, end.column) : `${line.slice(start.column)} …`;
  const change = `${before.slice(0, SHOWN)} -> ${replacement.replaceAll(/\s+/g, ' ').slice(0, SHOWN)}`;
  return `${fileName}:${start.line + 1}:${start.column + 1} ${mutatorName}: ${change}`;
}
