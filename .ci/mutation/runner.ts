import { TestRunner, vi, type RunnerTask, type RunnerTestCase, type RunnerTestFile } from 'vitest';
import { startTests } from 'vitest/internal/browser';
import { Results, type Coverage } from './results.ts';
import { startWatchdog } from './watchdog.ts';

/** What the instrumented code reads and writes. */
interface Switch {
  activeMutant?: string | undefined;
  currentTestId?: string | undefined;
  hitCount?: number | undefined;
  hitLimit?: number;
  mutantCoverage?: Coverage;
}

/** A mutant that is passed this much more often than without it is taken for a loop without end. */
const HIT_FACTOR = 100;
const HITS_AT_LEAST = 10_000;
const HITS_OF_STATIC = 1_000_000;

const STAGE = process.env['MUTATION_STAGE'];
const results = new Results(process.env['MUTATION_RESULTS'] ?? '');
const control: Switch = ((globalThis as { __stryker__?: Switch }).__stryker__ ??= {});
const watchdog = STAGE === 'cover' ? null : startWatchdog();

const isRepeating = STAGE === 'mutate';
/** Of the test that is repeated. */
const state: { killed: Set<string> | null; mutants: readonly string[]; active: string | null } = {
  ...{ killed: null, mutants: [], active: null },
};

/**
 * Vitest's runner, which repeats each test with each mutant that it passes, in one process: stage `cover` finds out which those are, `mutate` repeats.
 * Stage `static` loads a test file again for each mutant that is passed only while modules are loaded.
 */
// oxlint-disable-next-line import/no-default-export -- Vitest takes no other
export default class MutantRunner extends TestRunner {
  override async onBeforeRunTask(test: RunnerTestCase): Promise<void> {
    await super.onBeforeRunTask(test);
    if (STAGE === 'cover') control.currentTestId = idOf(test);
    if (!isRepeating) return;
    const killed = (state.killed ??= results.killed());
    const passed = Object.keys(results.coverageOf(test.file.name).perTest[idOf(test)] ?? {});
    state.mutants = results.done().has(idOf(test)) ? [] : passed.filter((mutant) => !killed.has(mutant));
    test.repeats = state.mutants.length;
    if (state.mutants.length === 0) test.mode = 'skip';
  }

  override onBeforeTryTask(test: RunnerTestCase, { repeats = 0 }: { retry?: number; repeats?: number } = {}): void {
    super.onBeforeTryTask(test);
    if (!isRepeating) return;
    forgetResult(test);
    // The first time without a mutant: a test that fails then judges none.
    state.active = repeats === 0 ? null : (state.mutants[repeats - 1] ?? null);
    if (state.active === null) return;
    const hits = results.coverageOf(test.file.name).perTest[idOf(test)]?.[state.active] ?? 0;
    activate(test.file, state.active, hits * HIT_FACTOR + HITS_AT_LEAST);
  }

  onTaskFinished(test: RunnerTestCase): void {
    if (!isRepeating) return;
    deactivate(test.file);
    if ((test.result?.errors ?? []).length > 0) noteFailure(test);
    forgetResult(test);
  }

  override onAfterRunTask(test: RunnerTestCase): void {
    control.currentTestId = undefined;
    if (isRepeating) results.finish(idOf(test));
    super.onAfterRunTask(test);
  }

  // oxlint-disable-next-line typescript/no-misused-promises -- Vitest waits for it
  override async onAfterRunFiles(files?: RunnerTestFile[]): Promise<void> {
    for (const file of files ?? []) {
      if (STAGE === 'cover') results.saveCoverage(file.name, control.mutantCoverage ?? { static: {}, perTest: {} });
      // oxlint-disable-next-line no-await-in-loop -- they share the modules
      if (STAGE === 'static') await this.#runStatic(file);
    }
    super.onAfterRunFiles();
  }

  async #runStatic(file: RunnerTestFile): Promise<void> {
    const coverage = results.coverageOf(file.name);
    const inTests = new Set(Object.values(coverage.perTest).flatMap((passed) => Object.keys(passed)));
    const [killed, done] = [results.killed(), results.done()];
    const nameOf = (mutant: string): string => `static ${mutant} ${file.name}`;
    const left = Object.keys(coverage.static).filter(
      (mutant) => !inTests.has(mutant) && !killed.has(mutant) && !done.has(nameOf(mutant)),
    );
    if (left.length > 0 && (await this.#failsAgain(file))) {
      results.noteUnfit(file.name);
      return;
    }
    for (const mutant of left) {
      activate(file, mutant, HITS_OF_STATIC);
      // oxlint-disable-next-line no-await-in-loop -- they share the modules
      if (await this.#failsAgain(file)) results.kill(mutant);
      deactivate(file);
      results.finish(nameOf(mutant));
    }
  }

  /** Loads the modules anew and runs the file's tests, of which the reporters hear nothing. */
  async #failsAgain(file: RunnerTestFile): Promise<boolean> {
    const silent = Object.assign(Object.create(this) as TestRunner, {
      ...{ onTaskUpdate: noop, onCollected: noop, onBeforeCollect: noop, onAfterRunFiles: noop, onAfterRunSuite: noop },
    });
    vi.resetModules();
    const [again] = await startTests([{ filepath: file.filepath }] as Parameters<typeof startTests>[0], silent);
    return again === undefined || (again.result?.errors ?? []).length > 0 || again.tasks.some(hasFailed);
  }
}

function noteFailure(test: RunnerTestCase): void {
  if (state.active === null) {
    results.noteUnfit(idOf(test));
    return;
  }
  results.kill(state.active);
  state.killed?.add(state.active);
}

function activate(file: RunnerTestFile, mutant: string, hitLimit: number): void {
  Object.assign(control, { activeMutant: mutant, hitCount: 0, hitLimit } satisfies Switch);
  results.setRunning(file.name, mutant);
  watchdog?.begin();
}

function deactivate(file: RunnerTestFile): void {
  Object.assign(control, { activeMutant: undefined, hitCount: undefined } satisfies Switch);
  results.setRunning(file.name, null);
  watchdog?.end();
}

function forgetResult(test: RunnerTestCase): void {
  if (test.result === undefined) return;
  delete test.result.errors;
  test.result.state = 'run';
}

function hasFailed(task: RunnerTask): boolean {
  return task.result?.state === 'fail' || (task.type === 'suite' && task.tasks.some(hasFailed));
}

function idOf(test: RunnerTestCase): string {
  return `${test.file.name} > ${test.fullTestName}`;
}

async function noop(): Promise<void> {}
