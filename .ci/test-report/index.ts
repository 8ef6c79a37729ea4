import { readFileSync } from 'node:fs';

/** What is read of a report of vitest's JSON reporter. */
interface Report {
  readonly numPassedTests: number;
  readonly testResults: readonly Suite[];
}

interface Suite {
  readonly name: string;
  readonly status: 'passed' | 'failed';
  readonly message: string;
  readonly assertionResults: readonly {
    readonly status: string;
    readonly fullName: string;
    readonly failureMessages: readonly string[];
  }[];
}

const NOTHING: Report = { numPassedTests: 0, testResults: [] };

/** More failed files than this are a fault of the change, not of a busy machine. */
const MOST_FILES_AGAIN = 3;

function readReport(path: string): Report {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Report;
  } catch {
    return NOTHING;
  }
}

function failedFiles({ testResults }: Report): readonly Suite[] {
  return testResults.filter(({ status }) => status === 'failed');
}

/** Each failure as a line. A file that cannot be loaded has no failed test of its own. */
function failuresOf({ name, message, assertionResults }: Suite): readonly string[] {
  const failed = assertionResults.filter(({ status }) => status === 'failed');
  if (failed.length === 0) return [`${name}: ${message}`];
  return failed.map(({ fullName, failureMessages }) =>
    `${name}: ${fullName}\n${failureMessages.join('\n')}`.slice(0, 2000),
  );
}

/** Prints the failed files of a report, one per line; prints nothing when there are too many to run again. */
function printFailedFiles(path: string): void {
  const files = failedFiles(readReport(path));
  if (files.length <= MOST_FILES_AGAIN) for (const { name } of files) process.stdout.write(`${name}\n`);
}

/**
 * Prints each failure, then the counts. A file that passed when it ran alone counts as passed and is named. Each failed
 * step, and each report without a passed test, counts as a failure.
 */
function printSummary(failedSteps: number, paths: readonly string[]): void {
  let passed = 0;
  let failed = failedSteps;
  for (const path of paths) {
    const report = readReport(path);
    const again = readReport(path.replace(/\.json$/u, '-again.json')).testResults;
    const passedAlone = new Set(again.flatMap(({ name, status }) => (status === 'passed' ? [name] : [])));
    passed += report.numPassedTests;
    if (report.numPassedTests === 0) failed += 1;
    for (const suite of failedFiles(report)) {
      const failures = failuresOf(suite);
      const isFlaky = passedAlone.has(suite.name);
      for (const failure of failures)
        process.stdout.write(`${isFlaky ? 'FAILED ONCE, PASSED ALONE' : 'FAILED'} ${failure}\n`);
      if (isFlaky) passed += failures.length;
      else failed += failures.length;
    }
  }
  process.stdout.write(`${passed} passed, ${failed} failed\n`);
  process.exitCode = failed === 0 ? 0 : 1;
}

const [command, first = '', ...rest] = process.argv.slice(2);
if (command === 'failed-files') printFailedFiles(first);
else printSummary(Number(first), rest);
