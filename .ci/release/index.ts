import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { nextVersion, releasedChangelog, type Step } from './plan.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const STEPS: readonly string[] = ['major', 'minor', 'patch'] satisfies Step[];
const VERSION_FILE = 'src/app/version.ts';
/** Files that it changes. */
const WRITTEN: readonly string[] = ['package.json', 'package-lock.json', VERSION_FILE, 'CHANGELOG.md'];
const USAGE = 'npm run release -- major|minor|patch [--dry-run]';
/** What proves the commit that is released. */
const CHECKS = ['check', 'test', 'test:long'];

/** `npm run release`: from a clean tree with green checks to a commit and a tag, or to the tree as it was. */
function release(parameters: readonly string[]): void {
  const [step = '', ...options] = parameters;
  const isDry = options.includes('--dry-run');
  if (!STEPS.includes(step) || options.some((option) => option !== '--dry-run')) throw new Error(USAGE);
  const { version: before } = JSON.parse(text('package.json')) as { version: string };
  const version = nextVersion(before, step as Step);
  const changelog = releasedChangelog(text('CHANGELOG.md'), version, new Date().toISOString().slice(0, 10));
  requireFit(version);
  say(`${before} -> ${version}`);
  if (isDry) {
    say(
      `Would run: ${CHECKS.map((name) => `npm run ${name}`).join(', ')}; then commit and tag v${version}. Nothing is changed.`,
    );
    return;
  }
  for (const name of CHECKS) npm(['run', name]);
  // They take half an hour: what was edited meanwhile is neither released nor thrown away below.
  requireFit(version);
  const written = new Map<string, string>();
  try {
    write({ before, version, changelog });
    for (const file of WRITTEN) written.set(file, text(file));
    git('commit', '--quiet', '--message', `Release ${version}`, '--', ...WRITTEN);
  } catch (error) {
    const left = takeBack(written);
    const tree = left.length === 0 ? 'the tree is as it was' : `${left.join(', ')}, changed meanwhile, stays as it is`;
    throw new Error(`${version} was not released, and ${tree}: ${(error as Error).message}`);
  }
  git('tag', '--annotate', `v${version}`, '--message', `Lote ${version}`);
  say(`Released ${version}: commit and tag v${version} are here alone. Next: git push --follow-tags`);
}

/** Nothing may get into the release, or out of it, that no commit holds. */
function requireFit(version: string): void {
  const changed = git('status', '--porcelain');
  if (changed !== '') throw new Error(`The tree must be clean; commit or stash first:\n${changed}`);
  if (git('tag', '--list', `v${version}`) !== '') throw new Error(`The tag v${version} is there already`);
}

/** Takes back what this script wrote, and nothing else; returns the files that hold more than that. */
function takeBack(written: ReadonlyMap<string, string>): readonly string[] {
  return WRITTEN.filter((file) => {
    const ours = written.get(file);
    if (ours !== undefined && text(file) !== ours) return true;
    git('restore', '--staged', '--worktree', '--', file);
    return false;
  });
}

function write({
  before,
  version,
  changelog,
}: {
  readonly before: string;
  readonly version: string;
  readonly changelog: string;
}): void {
  // npm knows both files that hold it.
  npm(['version', version, '--no-git-tag-version', '--ignore-scripts']);
  const code = text(VERSION_FILE);
  if (!code.includes(`'${before}'`)) throw new Error(`${VERSION_FILE} must hold '${before}'`);
  writeFileSync(`${ROOT}${VERSION_FILE}`, code.replace(`'${before}'`, `'${version}'`));
  writeFileSync(`${ROOT}CHANGELOG.md`, changelog);
}

function text(file: string): string {
  return readFileSync(`${ROOT}${file}`, 'utf8');
}

function git(...parameters: readonly string[]): string {
  return execFileSync('git', parameters, { cwd: ROOT, encoding: 'utf8' }).trim();
}

function npm(parameters: readonly string[]): void {
  execFileSync('npm', parameters, { cwd: ROOT, stdio: 'inherit' });
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

try {
  release(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`release: ${(error as Error).message}\n`);
  process.exitCode = 1;
}
