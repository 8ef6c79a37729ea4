import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { cleanCheckout, trackedFiles, type CleanCheckout } from '../support/lote/clean-checkout.ts';

const tracked = trackedFiles();
const ENTRY = '- Something that users notice.';
const AUTHOR = { GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'a@a', GIT_COMMITTER_NAME: 'a', GIT_COMMITTER_EMAIL: 'a@a' };
/** Instead of half an hour of tests. */
const SCRIPTS = {
  check: 'node -e ""',
  test: 'node -e ""',
  'test:long': 'node -e ""',
};

describe.skipIf(tracked === null)('`npm run release`', () => {
  let checkout: CleanCheckout;
  /** The command of `npm run release`. */
  let script: string;

  beforeAll(async () => {
    checkout = await cleanCheckout(tracked ?? []);
    writeFileSync(
      path('CHANGELOG.md'),
      `# Changelog\n\n## [Unreleased]\n\n### Added\n\n${ENTRY}\n\n## [0.1.0] - 2026-11-23\n`,
    );
    script = setScripts(SCRIPTS)['release'] ?? expect.fail('no script');
    git('init', '--quiet');
    // What is a link here, .gitignore knows as a folder.
    writeFileSync(path('.git/info/exclude'), 'node_modules\n');
    commit('Before');
    git('branch', 'before');
  });

  afterAll(() => checkout.remove());

  beforeEach(() => {
    git('reset', '--quiet', '--hard', 'before');
    git('clean', '--quiet', '--force', '-d');
  });

  function path(name: string): string {
    return join(checkout.directory, name);
  }

  function git(...parameters: readonly string[]): string {
    const env = { ...process.env, ...AUTHOR };
    return execFileSync('git', parameters, { cwd: checkout.directory, encoding: 'utf8', env }).trim();
  }

  function commit(message: string): void {
    git('add', '--all');
    git('commit', '--quiet', '--message', message);
  }

  /** Returns the scripts that were there. */
  function setScripts(scripts: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
    const manifest = JSON.parse(readFileSync(path('package.json'), 'utf8')) as { scripts: Record<string, string> };
    const changed = { ...manifest, scripts: { ...manifest.scripts, ...scripts } };
    writeFileSync(path('package.json'), `${JSON.stringify(changed, null, 2)}\n`);
    return manifest.scripts;
  }

  /** What npm would start, without npm. */
  function release(...parameters: readonly string[]) {
    return run('sh', '-c', `${script} "$@"`, 'sh', ...parameters);
  }

  function run(command: string, ...parameters: readonly string[]) {
    const { status, stdout, stderr } = spawnSync(command, parameters, {
      cwd: checkout.directory,
      encoding: 'utf8',
      env: { ...process.env, ...AUTHOR },
    });
    return { status, text: stdout + stderr };
  }

  it('sets the version everywhere, dates the changelog, commits and tags', () => {
    const { status, text } = run('npm', 'run', '--silent', 'release', '--', 'minor');

    expect(status, text).toBe(0);
    expect(git('tag')).toBe('v0.3.0');
    expect(git('log', '-1', '--format=%s')).toBe('Release 0.3.0');
    expect(git('status', '--porcelain')).toBe('');
    expect(git('show', '--name-only', '--format=', 'HEAD').split('\n')).toEqual([
      'CHANGELOG.md',
      'package-lock.json',
      'package.json',
      'src/app/version.ts',
    ]);
    for (const file of ['package.json', 'package-lock.json'])
      expect(JSON.parse(readFileSync(path(file), 'utf8'))).toMatchObject({ version: '0.3.0' });
    expect(readFileSync(path('src/app/version.ts'), 'utf8')).toContain("'0.3.0'");
    const today = new Date().toISOString().slice(0, 10);
    expect(readFileSync(path('CHANGELOG.md'), 'utf8')).toBe(
      `# Changelog\n\n## [Unreleased]\n\n## [0.3.0] - ${today}\n\n### Added\n\n${ENTRY}\n\n## [0.1.0] - 2026-11-23\n`,
    );
    git('tag', '--delete', 'v0.3.0');
  });

  it('only says what it would do with --dry-run', () => {
    const { status, text } = release('patch', '--dry-run');

    expect({ status, tags: git('tag'), changed: git('status', '--porcelain') }).toEqual({
      status: 0,
      tags: '',
      changed: '',
    });
    expect(text).toContain('0.2.0 -> 0.2.1');
  });

  it.each<[string, () => void, string]>([
    ['a tree with a change', () => writeFileSync(path('README.md'), 'changed'), 'The tree must be clean'],
    ['nothing unreleased', () => without(ENTRY), 'says nothing there'],
    ['a version that has a tag', () => git('tag', 'v0.3.0'), 'v0.3.0 is there already'],
  ])('refuses %s', (_, spoil, message) => {
    spoil();
    const { status, text } = release('minor');
    git('tag', '--list')
      .split('\n')
      .filter(Boolean)
      .forEach((tag) => git('tag', '--delete', tag));

    expect(status).toBe(1);
    expect(text).toContain(message);
    expect(git('log', '-1', '--format=%s')).not.toContain('Release');
  });

  it('leaves the tree as it was when `npm test` fails', () => {
    setScripts({ test: 'node -e "process.exit(1)"' });
    commit('Broken');

    expect(release('minor').status).toBe(1);

    expect({ tags: git('tag'), changed: git('status', '--porcelain') }).toEqual({ tags: '', changed: '' });
    expect(git('log', '-1', '--format=%s')).toBe('Broken');
  });

  function without(text: string): void {
    writeFileSync(path('CHANGELOG.md'), readFileSync(path('CHANGELOG.md'), 'utf8').replace(text, ''));
    commit('Without');
  }
});
