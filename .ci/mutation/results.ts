import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** How often each mutant was passed: while a file was loaded, and by each test. Keys are ids of mutants. */
export interface Coverage {
  readonly static: Readonly<Record<string, number>>;
  readonly perTest: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

const COVERAGE = 'coverage-';
const RUNNING = 'running-';

/** What is known of the mutants of one run: files of a folder, so that it survives a worker that a mutant kills. */
export class Results {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  coverageOf(testFile: string): Coverage {
    const path = this.#path(COVERAGE, testFile);
    return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Coverage) : { static: {}, perTest: {} };
  }

  saveCoverage(testFile: string, coverage: Coverage): void {
    writeFileSync(this.#path(COVERAGE, testFile), JSON.stringify(coverage));
  }

  allCoverage(): readonly Coverage[] {
    return this.#named(COVERAGE).map((name) => JSON.parse(readFileSync(join(this.#folder, name), 'utf8')) as Coverage);
  }

  /** Ids of mutants that a test noticed. */
  killed(): Set<string> {
    return this.#lines('killed');
  }

  kill(mutant: string): void {
    this.#append('killed', mutant);
  }

  /** Names of what was run to its end: tests, and files with one static mutant. */
  done(): Set<string> {
    return this.#lines('done');
  }

  finish(name: string): void {
    this.#append('done', name);
  }

  /** Tests that fail without a mutant, when they are repeated: they judge none. */
  unfit(): Set<string> {
    return this.#lines('unfit');
  }

  noteUnfit(test: string): void {
    this.#append('unfit', test);
  }

  /** Null: none. */
  setRunning(testFile: string, mutant: string | null): void {
    writeFileSync(this.#path(RUNNING, testFile), mutant ?? '');
  }

  /** Kills each mutant under which a worker died; false: there was none. */
  killFatal(): boolean {
    const fatal = this.#named(RUNNING).map((name) => join(this.#folder, name));
    const mutants = fatal.map((path) => readFileSync(path, 'utf8')).filter((mutant) => mutant !== '');
    for (const mutant of mutants) this.kill(mutant);
    for (const path of fatal) writeFileSync(path, '');
    return mutants.length > 0;
  }

  #path(kind: string, testFile: string): string {
    return join(this.#folder, `${kind}${encodeURIComponent(testFile)}`);
  }

  #named(kind: string): readonly string[] {
    return readdirSync(this.#folder).filter((name) => name.startsWith(kind));
  }

  #lines(name: string): Set<string> {
    const path = join(this.#folder, name);
    return new Set(existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : []);
  }

  #append(name: string, line: string): void {
    appendFileSync(join(this.#folder, name), `${line}\n`);
  }
}
