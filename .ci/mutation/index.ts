import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { instrument, type Instrumented } from './mutants.ts';
import { reportOf } from './report.ts';
import { Results } from './results.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** A copy of the checkout, whose files are changed. */
const SANDBOX = join(ROOT, '.cache/mutation');
const RESULTS = join(SANDBOX, 'results');
const USAGE = 'npm run mutate -- FOLDER|FILE… [--tests PATTERN,PATTERN] [--without PATTERN,PATTERN]';
const STAGES = ['cover', 'mutate', 'static'] as const;

/**
 * `npm run mutate`: changes each expression of folders or files of the product, one at a time, and lists the changes that no test notices.
 * The tests are those at the mirrored paths and those of `--tests`, except those of `--without`.
 */
async function mutate(parameters: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...parameters],
    allowPositionals: true,
    options: { tests: { type: 'string' }, without: { type: 'string', default: '' } },
  });
  const targets = positionals.map((target) => target.replace(/\/$/, ''));
  if (targets.length === 0 || !targets.every((target) => target !== '' && existsSync(join(ROOT, target))))
    throw new Error(USAGE);
  const instrumented = await instrument(ROOT, targets);
  makeSandbox(instrumented);
  const results = new Results(RESULTS);
  const tests = {
    MUTATION_TESTS: [...targets.flatMap(mirrored), ...(values.tests === undefined ? [] : [values.tests])].join(','),
    MUTATION_WITHOUT: values.without,
  };
  for (const stage of STAGES) {
    process.stdout.write(`${stage}: ${instrumented.mutants.length} mutants, ${results.killed().size} noticed\n`);
    const code = runTests(stage, tests);
    if (stage === 'cover' && code !== 0) throw new Error('The tests must be green before the code is changed.');
    // A worker that a mutant killed: the others go on without it.
    while (results.killFatal()) runTests(stage, tests);
  }
  process.stdout.write(`${reportOf(ROOT, instrumented.mutants, results).join('\n')}\n`);
}

/** Patterns of the tests of a folder or file of the product. */
function mirrored(target: string): readonly string[] {
  const folder = (target.endsWith('.ts') ? dirname(target) : target).replace(/^src\//, '');
  return ['unit', 'contract'].map((project) => `test/${project}/${folder}/**/*.test.ts`);
}

function makeSandbox({ files }: Instrumented): void {
  rmSync(SANDBOX, { recursive: true, force: true });
  mkdirSync(RESULTS, { recursive: true });
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: ROOT });
  const names = listed.toString().split('\0');
  for (const name of names)
    if (name !== '' && existsSync(join(ROOT, name))) cpSync(join(ROOT, name), join(SANDBOX, name));
  symlinkSync(join(ROOT, 'node_modules'), join(SANDBOX, 'node_modules'));
  for (const { name, content } of files) writeFileSync(join(SANDBOX, name), content);
}

/** The exit code of Vitest in the sandbox. */
function runTests(stage: (typeof STAGES)[number], tests: Readonly<Record<string, string>>): number {
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
  const { status } = spawnSync(
    process.execPath,
    [vitest, 'run', '--config', '.ci/mutation/vitest.config.ts', '--passWithNoTests'],
    {
      cwd: SANDBOX,
      stdio: stage === 'cover' ? 'inherit' : 'ignore',
      env: { ...process.env, MUTATION_STAGE: stage, MUTATION_RESULTS: RESULTS, ...tests },
    },
  );
  return status ?? 1;
}

await mutate(process.argv.slice(2));
