import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PRODUCT, sourcesDirectory } from './changed-sources.ts';

const run = promisify(execFile);

/**
 * Builds the newest release, from its tag or from the commit that LOTE_OLDER_COMMIT names, with the packages of today. To be called at the top of a
 * test file.
 * @returns the path of its command line; null: this is no git repository, or has no tag of a release
 */
export async function buildLastRelease(): Promise<string | null> {
  const commit = process.env['LOTE_OLDER_COMMIT'] ?? (await newestTag());
  if (commit === null) return null;
  const directory = await sourcesDirectory();
  const archive = join(directory, 'sources.tar');
  await run('git', ['archive', '--output', archive, commit, ...PRODUCT]);
  await run('tar', ['-xf', archive, '-C', directory]);
  await run(process.execPath, [join(directory, 'bin/build.js')], { cwd: directory });
  return join(directory, 'dist/src/cli/main.js');
}

async function newestTag(): Promise<string | null> {
  const tags = await run('git', ['tag', '--list', 'v[0-9]*', '--sort=-v:refname', '--merged', 'HEAD']).catch(
    () => null,
  );
  return tags?.stdout.split('\n').find((tag) => tag !== '') ?? null;
}
