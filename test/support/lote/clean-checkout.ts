import { execFileSync } from 'node:child_process';
import { cp, mkdtemp, realpath, rm, symlink, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { COMMAND } from './lote-command.ts';

const CHECKOUT = fileURLToPath(new URL('../../../', import.meta.url));

/** Returns the files of a fresh checkout; null if the checkout is no git repository. */
export function trackedFiles(): readonly string[] | null {
  try {
    const names = execFileSync('git', ['ls-files', '-z'], { cwd: CHECKOUT, encoding: 'utf8', stdio: 'pipe' });
    return names.split('\0').filter((name) => name !== '');
  } catch {
    return null;
  }
}

export type CleanCheckout = Awaited<ReturnType<typeof cleanCheckout>>;

/** Copies the tracked files and links the packages of this checkout, because `npm ci` needs minutes and a network. */
export async function cleanCheckout(files: readonly string[]) {
  const directory = await realpath(await mkdtemp(join(tmpdir(), 'lote-clean-')));
  for (const name of files) await cp(join(CHECKOUT, name), join(directory, name));
  await symlink(await realpath(join(CHECKOUT, 'node_modules')), join(directory, 'node_modules'), 'dir');
  return {
    directory,
    /** Adds the build of this test run, as `npm ci` does at its end. Before that, Lote runs from the sources. */
    async addBuild() {
      const dist = join(directory, 'dist');
      await cp(join(dirname(COMMAND), '../..'), dist, { recursive: true });
      // Lote uses a build only if it began after the last change of a source, and ended after it began.
      for (const name of ['.begun', 'workflow-bundle.js']) await utimes(join(dist, name), new Date(), new Date());
    },
    remove: () => rm(directory, { recursive: true, force: true }),
  };
}
