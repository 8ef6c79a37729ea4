import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { VERSION } from '../../../src/runtime/version.ts';
import { RUN_VARIABLE } from '../servers/global-build.ts';
import { until } from '../until.ts';
import { changeSourcesIn, oneStepMoreInPages } from './changed-sources.ts';

const run = promisify(execFile);
/** No release is called this. */
const NEXT_VERSION = '9.9.9';
/** A column with a default and a table: what the version before can go on with. */
const EXPANDING = [
  "ALTER TABLE invoice ADD COLUMN next_note text NOT NULL DEFAULT 'none'",
  'CREATE TABLE next_version (note text)',
];
const END_OF_MIGRATIONS = '\n];\n\n/** The version of the schema';

/**
 * A later version of Lote: pages take one step more under a patch, and the ledger has one migration more, which adds a column and a table (expand). The test
 * files of a run share one build: the first that asks makes it. To be called at the top of a test file.
 * @returns the path of its command line
 */
export async function buildNextVersion(): Promise<string> {
  const directory = join(process.env[RUN_VARIABLE] ?? '', 'next-version');
  const [built, failed] = [join(directory, 'built'), join(directory, 'failed')];
  if (await isFirst(directory)) {
    await build(directory).then(
      () => writeFile(built, ''),
      async (error: unknown) => {
        await writeFile(failed, String(error));
        throw error;
      },
    );
  }
  await until(() => existsSync(built) || existsSync(failed));
  if (existsSync(failed)) throw new Error(await readFile(failed, 'utf8'));
  return join(directory, 'dist/src/cli/main.js');
}

async function isFirst(directory: string): Promise<boolean> {
  try {
    await mkdir(directory);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

async function build(directory: string): Promise<void> {
  await changeSourcesIn(directory, [
    ...oneStepMoreInPages(),
    { file: 'src/runtime/version.ts', text: `'${VERSION}'`, by: `'${NEXT_VERSION}'` },
    {
      file: 'src/ledger/database/migrations/migrate.ts',
      text: END_OF_MIGRATIONS,
      by: `\n  ${JSON.stringify(EXPANDING)},${END_OF_MIGRATIONS}`,
    },
  ]);
  await run(process.execPath, [join(directory, 'bin/build.js')], { cwd: directory });
}
