import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { Mutant } from '../../../../.ci/mutation/mutants.ts';
import { reportOf } from '../../../../.ci/mutation/report.ts';
import { Results } from '../../../../.ci/mutation/results.ts';

const TEST = 'test/unit/sum.test.ts';

function mutant(id: string, replacement: string): Mutant {
  const location = { start: { line: 1, column: 2 }, end: { line: 1, column: 7 } };
  return { id, fileName: 'src/sum.ts', location, mutatorName: 'ArithmeticOperator', replacement };
}

/** A checkout of one file, and the results of its mutants. */
function place(): { readonly root: string; readonly results: Results } {
  const root = mkdtempSync(join(tmpdir(), 'lote-mutation-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  mkdirSync(join(root, 'src'));
  mkdirSync(join(root, 'results'));
  writeFileSync(join(root, 'src/sum.ts'), 'export const sum = (a: number, b: number) =>\n  a + b;\n');
  return { root, results: new Results(join(root, 'results')) };
}

it('the report of mutants names those that no test noticed, and tells whether one passes them', () => {
  const { root, results } = place();
  results.saveCoverage(TEST, { static: {}, perTest: { [`${TEST} > adds`]: { 1: 4, 2: 4 } } });
  results.kill('1');
  results.noteUnfit(`${TEST} > remembers`);

  expect(reportOf(root, [mutant('1', 'a - b'), mutant('2', 'a * b'), mutant('3', 'a / b')], results)).toEqual([
    'survived src/sum.ts:2:3 ArithmeticOperator: a + b -> a * b',
    'no test  src/sum.ts:2:3 ArithmeticOperator: a + b -> a / b',
    'src/sum.ts: 1 of 3 noticed, 33.3 %',
    `fails when it is repeated, and judged nothing: ${TEST} > remembers`,
    'all: 1 of 3 noticed, 33.3 %',
  ]);
});

it('a mutant under which a worker died counts as noticed, once', () => {
  const { results } = place();
  results.setRunning(TEST, '7');
  results.setRunning('test/unit/other.test.ts', null);

  expect([results.killFatal(), results.killFatal()]).toEqual([true, false]);
  expect(results.killed()).toEqual(new Set(['7']));
});
