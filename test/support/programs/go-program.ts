import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { cacheDirectory } from '../../../src/platform/files.ts';
import { buildEnvironment } from '../../../src/app/process/child-environment.ts';

const run = promisify(execFile);

/** A program for tests that Go builds. */
export interface GoProgram {
  /** The name of the binary. */
  readonly name: string;
  readonly package: string;
  readonly version: string;
}

/**
 * Returns the path of a program in the user's cache. Go builds a missing program once, which takes minutes.
 * @throws Error when there is no Go, or the build fails.
 */
export async function goProgram(program: GoProgram, notify: (line: string) => void): Promise<string> {
  const path = join(cacheDirectory(process.env), `${program.name}-${program.version}`, program.name);
  if (!existsSync(path)) await build(program, path, notify);
  return path;
}

/** Builds beside the cache and renames, so that the cache has only whole programs. Go names a program by its folder. */
async function build(program: GoProgram, path: string, notify: (line: string) => void): Promise<void> {
  const folder = join(dirname(path), '..', `.building-${randomUUID()}`);
  await mkdir(folder, { recursive: true });
  await mkdir(dirname(path), { recursive: true });
  notify(`Building ${program.name} ${program.version} with Go (minutes, once) …`);
  try {
    await run('go', ['install', '-ldflags', '-s -w', `${program.package}@${program.version}`], {
      env: { ...buildEnvironment(process.env), GOBIN: folder },
    });
    await rename(join(folder, basename(program.package)), path);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
