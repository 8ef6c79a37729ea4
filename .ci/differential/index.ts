import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { writeSeededFile } from './batches.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const CORPUS = ['test/golden/ingest', 'test/golden/workbooks'];
const FORMATS = /\.(?:in|csv|json|ndjson|xlsx|ods)$/u;
/** Files of one rehearsal: they share one start of all servers. */
const FILES_AT_ONCE = 50;
const CHECKED_AT_ONCE = 30;
const LONGEST_MS = 20 * 60_000;
/** How often batches that differ are issued again. */
const REPEATS = 6;

/** What a check says that decides about money: amounts, invoices, refusals and findings with their places. */
const CheckedFile = z.object({
  ...{ rows: z.number(), refused: z.boolean(), rowsWithoutInvoice: z.number() },
  ...{ invoices: z.number(), invalid: z.number(), net: z.unknown(), netOfValid: z.unknown() },
  ...{ firstBodies: z.unknown(), firstInvoices: z.unknown() },
  findings: z.array(z.object({ severity: z.string(), code: z.string(), row: z.unknown(), column: z.unknown() })),
});
const CheckAnswer = z.object({
  files: z.array(CheckedFile).optional(),
});
/** A report without times, service ids and the number of tries: what an accountant acts on, and every key. */
const Report = z.object({
  counts: z.record(z.string(), z.number()),
  totals: z.unknown(),
  invoices: z.array(
    z.object({
      ...{ ref: z.string(), merchantNif: z.string(), rows: z.unknown(), state: z.string(), currency: z.unknown() },
      ...{ net: z.unknown(), idempotencyKey: z.unknown(), generation: z.unknown(), flags: z.unknown() },
      reason: z.object({ code: z.string() }).nullable(),
    }),
  ),
});

interface Build {
  readonly name: string;
  readonly root: string;
}

/**
 * `npm run differential [-- --batches 200] [--only check|batches] [--seeds 1,2]`: the build of the commit in `.ci/before-house` and this
 * one read the whole corpus (`lote check --json`) and issue seeded batches under the sandbox's faults `heavy`
 * (`lote rehearse`). Prints each difference but for times and ids. Differences with a reason in `explained.json` are
 * counted, others make it fail, and so does a document that exists twice.
 */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      ...{ batches: { type: 'string', default: '200' }, only: { type: 'string', default: '' } },
      seeds: { type: 'string', default: '' },
    },
  });
  const only = values.seeds === '' ? [] : values.seeds.split(',').map(Number);
  const builds = [
    { name: 'before', root: before() },
    { name: 'now', root: built(ROOT) },
  ] as const;
  const explained = JSON.parse(readFileSync(join(ROOT, '.ci/differential/explained.json'), 'utf8')) as Record<
    string,
    string
  >;
  const differences: string[] = [];
  if (values.only !== 'batches') differences.push(...(await compareCorpus(builds)));
  if (values.only !== 'check') differences.push(...(await compareBatches(builds, Number(values.batches), only)));
  const open = differences.filter((difference) => explained[difference.split(':')[0] ?? ''] === undefined);
  for (const difference of open) process.stdout.write(`DIFFERENT ${difference}\n`);
  process.stdout.write(`${differences.length - open.length} explained differences, ${open.length} others\n`);
  process.exitCode = open.length === 0 ? 0 : 1;
}

/** The checkout of the commit before, with its own packages and build, kept in `.cache`. */
function before(): string {
  const commit = readFileSync(join(ROOT, '.ci/before-house'), 'utf8').trim();
  const root = join(ROOT, '.cache/before-house', commit);
  if (!existsSync(root)) execFileSync('git', ['worktree', 'add', '--detach', root, commit], { cwd: ROOT });
  if (!existsSync(join(root, 'node_modules'))) execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: root });
  return built(root);
}

function built(root: string): string {
  execFileSync(process.execPath, ['bin/build.js'], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
  return root;
}

async function compareCorpus(builds: readonly [Build, Build]): Promise<string[]> {
  const files = CORPUS.flatMap((folder) =>
    readdirSync(join(ROOT, folder))
      .filter((name) => FORMATS.test(name))
      .map((name) => join(folder, name)),
  );
  process.stdout.write(`Reading ${files.length} files of the corpus\n`);
  const [old = [], now = []] = await Promise.all(builds.map(({ root }) => checkedFiles(root, files)));
  return files.flatMap((file, index) => {
    const [was, is] = [old[index] ?? 'no answer', now[index] ?? 'no answer'];
    return was === is ? [] : [`${file}: ${firstDifference(was, is)}`];
  });
}

/** What each file is read as. Files without options of their own share a process, because a start takes a second. */
async function checkedFiles(root: string, files: readonly string[]): Promise<string[]> {
  const answers = new Map<string, string>();
  const alone = files.filter((file) => optionsFile(file) !== undefined);
  const together = files.filter((file) => optionsFile(file) === undefined);
  for (let first = 0; first < together.length; first += CHECKED_AT_ONCE) {
    const some = together.slice(first, first + CHECKED_AT_ONCE);
    const read = await checked(root, some);
    for (const [index, file] of some.entries()) answers.set(file, JSON.stringify(read[index]));
  }
  for (const file of alone) answers.set(file, JSON.stringify((await checked(root, [file]))[0]));
  for (const file of files.filter((one) => UNCONFIRMED.test(answers.get(one) ?? '')))
    answers.set(file, JSON.stringify((await checked(root, [file], true))[0]));
  return files.map((file) => answers.get(file) ?? 'no answer');
}

/** A file with a layout that nobody has confirmed is read once more, with the columns as they are proposed. */
const UNCONFIRMED = /"code":"layout-unconfirmed"/u;

/** One entry for each file, in their order; `confirms`: with its proposed columns. @throws Error when the command gives no answer or leaves a file out. */
async function checked(root: string, files: readonly string[], confirms = false) {
  const home = mkdtempSync(join(tmpdir(), 'lote-differential-'));
  const options = files.length === 1 ? optionsBeside(files[0] ?? '', home) : [];
  const paths = files.map((file) => join(ROOT, file));
  if (confirms) await lote(root, ['check', ...paths, '--save-profile', 'proposed', ...options], home);
  const run = await lote(root, ['check', ...paths, '--json', ...options], home);
  rmSync(home, { recursive: true, force: true });
  if (run.stdout === '')
    throw new Error(`Checking ${files.join(' ')} (${root}): no answer, exit code ${run.status}\n${run.stderr}`);
  const { files: read = [] } = CheckAnswer.parse(JSON.parse(run.stdout));
  if (read.length !== files.length) throw new Error(`Checking ${files.join(' ')} (${root}): ${run.stdout}`);
  return read.map((file) => ({ ...file, findings: file.findings.filter(({ severity }) => severity === 'error') }));
}

const AS_OPTION = ['encoding', 'decimal', 'delimiter', 'duplicateRows', 'lookAlikes'];

/** What a corpus file is read with: options of the command, and everything else as a mapping profile. */
function optionsBeside(file: string, home: string): string[] {
  const beside = optionsFile(file);
  if (beside === undefined) return [];
  const settings = Object.entries(JSON.parse(readFileSync(beside, 'utf8')) as Record<string, unknown>);
  const mapped = settings.filter(([name]) => !AS_OPTION.includes(name));
  mkdirSync(join(home, 'input/profiles'), { recursive: true });
  writeFileSync(join(home, 'input/profiles/corpus.json'), JSON.stringify(Object.fromEntries(mapped)));
  const options = settings
    .filter(([name]) => AS_OPTION.includes(name))
    .flatMap(([name, value]) => [
      `--${name.replaceAll(/[A-Z]/gu, (capital) => `-${capital.toLowerCase()}`)}`,
      String(value),
    ]);
  return mapped.length === 0 ? options : [...options, '--profile', 'corpus'];
}

function optionsFile(file: string): string | undefined {
  const beside = join(ROOT, file.replace(/\.in$/u, '.options'));
  return file.endsWith('.in') && existsSync(beside) ? beside : undefined;
}

/**
 * Under faults, one batch has several right reports: the last error of an invoice without an answer, and whether a second word came before the report,
 * depend on the order of requests. So batches that differ are issued again, and one counts as different if no report of this build is among those of the other.
 */
async function compareBatches(
  builds: readonly [Build, Build],
  count: number,
  only: readonly number[],
): Promise<string[]> {
  const directory = mkdtempSync(join(tmpdir(), 'lote-differential-'));
  const reports = new Map<number, { readonly old: string[]; readonly now: string[] }>();
  const differing = (): number[] =>
    [...reports].filter(([, { old, now }]) => !now.some((one) => old.includes(one))).map(([seed]) => seed);
  /** Issues batches of one group. The seed of the faults is that of the group, so that each batch meets the same faults again. */
  const issue = async (seeds: readonly number[], group: number, time: number): Promise<void> => {
    const files = seeds.map((seed) => writeSeededFile(directory, seed));
    const home = join(directory, `${group}-${time}`);
    const [old, now] = await Promise.all(builds.map((build) => rehearsed(build, files, String(group), home)));
    for (const [index, seed] of seeds.entries()) {
      const seen = reports.get(seed) ?? { old: [], now: [] };
      seen.old.push(old?.[index] ?? 'no report');
      seen.now.push(now?.[index] ?? 'no report');
      reports.set(seed, seen);
    }
  };
  try {
    for (let group = 0; group < count; group += FILES_AT_ONCE) {
      const seeds = Array.from({ length: Math.min(FILES_AT_ONCE, count - group) }, (_, index) => group + index);
      const wanted = seeds.filter((seed) => only.length === 0 || only.includes(seed));
      if (wanted.length > 0) await issue(wanted, group, 0);
    }
    for (let time = 1; time <= REPEATS && differing().length > 0; time += 1) {
      const seeds = differing();
      process.stdout.write(`After ${time} times these batches differ: ${seeds.join(' ')}\n`);
      const groupOf = (seed: number): number => seed - (seed % FILES_AT_ONCE);
      const groups = [...new Set(seeds.map(groupOf))];
      // A rehearsal of a few batches mostly waits.
      await Promise.all(
        groups.map((group) =>
          issue(
            seeds.filter((seed) => groupOf(seed) === group),
            group,
            time,
          ),
        ),
      );
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
  return differing().map((seed) => {
    const { old, now } = reports.get(seed) ?? { old: [], now: [] };
    return `batch ${seed}: ${firstDifference(old.at(-1) ?? '', now.at(-1) ?? '')}`;
  });
}

/** @throws Error when the simulated service holds a document twice, or when a rehearsal does not end well. */
async function rehearsed(build: Build, files: readonly string[], seed: string, folder: string): Promise<string[]> {
  const home = join(folder, build.name);
  mkdirSync(home, { recursive: true });
  const run = await lote(build.root, ['rehearse', ...files, '--faults', 'heavy', '--seed', seed], home);
  const books = /books: (\d+) invoices, (\d+) of them twice/u.exec(run.stderr);
  if (books === null) throw new Error(`${build.name}, seed ${seed}: the rehearsal did not end well.\n${run.stderr}`);
  if (books[2] !== '0') throw new Error(`${build.name}, seed ${seed}: ${books[2]} documents exist twice.`);
  const reports = join(home, 'reports/rehearsal');
  return readdirSync(reports)
    .toSorted()
    .filter((batch) => existsSync(join(reports, batch, 'report.json')))
    .map((batch) =>
      JSON.stringify(Report.parse(JSON.parse(readFileSync(join(reports, batch, 'report.json'), 'utf8')))),
    );
}

/** Runs a command of a build with no settings of this machine; its exit code is part of the answer. */
function lote(root: string, parameters: readonly string[], home: string) {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(?:LOTE|INVOICING|TEMPORAL|WEBHOOK|DATABASE)_/u.test(name),
  );
  const options = {
    cwd: home,
    env: Object.fromEntries(kept),
    maxBuffer: 512 * 1024 * 1024,
    timeout: LONGEST_MS,
  };
  return new Promise<{ status: number | null; stdout: string; stderr: string }>((resolve) => {
    const child = execFile(
      process.execPath,
      [join(root, 'bin/lote.js'), ...parameters],
      options,
      (_error, stdout, stderr) => resolve({ status: child.exitCode, stdout, stderr }),
    );
  });
}

function firstDifference(old: string, now: string): string {
  let at = 0;
  while (at < old.length && old[at] === now[at]) at += 1;
  const from = Math.max(0, at - 80);
  return `before …${old.slice(from, at + 120)}… now …${now.slice(from, at + 120)}…`;
}

await main();
