import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { VERSION } from '../../../src/runtime/version.ts';
import { changedSources, oneStepMoreInPages } from './changed-sources.ts';

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
 * Builds a later version of Lote: pages take one step more under a patch, and the ledger has one migration more, which adds a column and a
 * table (expand). To be called at the top of a test file.
 * @returns the path of its command line
 */
export async function buildNextVersion(): Promise<string> {
  const directory = await changedSources([
    ...oneStepMoreInPages(),
    { file: 'src/runtime/version.ts', text: `'${VERSION}'`, by: `'${NEXT_VERSION}'` },
    {
      file: 'src/ledger/database/migrations/migrate.ts',
      text: END_OF_MIGRATIONS,
      by: `\n  ${JSON.stringify(EXPANDING)},${END_OF_MIGRATIONS}`,
    },
  ]);
  await run(process.execPath, [join(directory, 'bin/build.js')], { cwd: directory });
  return join(directory, 'dist/src/cli/main.js');
}
