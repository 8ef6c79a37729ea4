import { execFileSync } from 'node:child_process';
import { cp, mkdtemp, realpath, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const CHECKOUT = fileURLToPath(new URL('../../../', import.meta.url));

/** Files that a fresh checkout would have; null where the checkout is no git repository. */
export function trackedFiles(): readonly string[] | null {
  try {
    const names = execFileSync('git', ['ls-files', '-z'], { cwd: CHECKOUT, encoding: 'utf8', stdio: 'pipe' });
    return names.split('\0').filter((name) => name !== '');
  } catch {
    return null;
  }
}

export interface CleanCheckout {
  readonly directory: string;
  remove(): Promise<void>;
}

/** The tracked files in an empty directory, with the packages that were installed here: `npm ci` needs minutes, and a network. */
export async function cleanCheckout(files: readonly string[]): Promise<CleanCheckout> {
  const directory = await realpath(await mkdtemp(join(tmpdir(), 'lote-clean-')));
  for (const name of files) await cp(join(CHECKOUT, name), join(directory, name));
  await symlink(await realpath(join(CHECKOUT, 'node_modules')), join(directory, 'node_modules'), 'dir');
  return { directory, remove: () => rm(directory, { recursive: true, force: true }) };
}
