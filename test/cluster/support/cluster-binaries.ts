import { copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { acquireTemporalBinary } from '../../../src/runtime/temporal/temporal-binary.ts';
import { goProgram, type GoProgram } from '../../support/programs/go-program.ts';

/** The programs of the images that docker-compose.yml names, but for PostgreSQL and Node, in their versions; a test compares them. */
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
  for (const program of GO_PROGRAMS) await copyFile(await goProgram(program, notify), join(folder, program.name));
  await copyFile(await acquireTemporalBinary(notify, process.env), join(folder, 'temporal'));
}
