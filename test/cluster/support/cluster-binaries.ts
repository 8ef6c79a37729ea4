import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { cacheDirectory } from '../../../src/file-system/cache-directory.ts';
import { buildEnvironment } from '../../../src/runtime/temporal/child-environment.ts';
import { acquireTemporalBinary } from '../../../src/runtime/temporal/temporal-binary.ts';

const run = promisify(execFile);

/** What an image of the compose file holds, as Go builds it. */
interface GoProgram {
  /** As the commands of the compose file call it. */
  readonly name: string;
  readonly package: string;
  /** That of the image; a test compares them. */
  readonly version: string;
}

/** The programs of the images that docker-compose.yml names, but for PostgreSQL and Node. */
export const GO_PROGRAMS: readonly GoProgram[] = [
  { name: 'temporal-server', package: 'go.temporal.io/server/cmd/server', version: 'v1.31.2' },
  { name: 'temporal-sql-tool', package: 'go.temporal.io/server/cmd/tools/sql', version: 'v1.31.2' },
  { name: 'caddy', package: 'github.com/caddyserver/caddy/v2/cmd/caddy', version: 'v2.10.2' },
];

/**
 * Puts the programs into a folder that any account of this machine may read, from the user's cache; Go builds what is missing there (minutes,
 * once).
 * @throws Error when there is no Go, or a build fails.
 */
export async function copyClusterBinaries(folder: string, notify: (line: string) => void): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const program of GO_PROGRAMS) {
    const path = join(cacheDirectory(process.env), `${program.name}-${program.version}`, program.name);
    if (!existsSync(path)) await build(program, path, notify);
    await copyFile(path, join(folder, program.name));
  }
  await copyFile(await acquireTemporalBinary(notify, process.env), join(folder, 'temporal'));
}

/** Built beside the cache and renamed into it, so that what is there is whole. Go calls a program as its folder is called. */
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
