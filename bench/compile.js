// `node bench/compile.js`: makes what the bench measures. The product is built, when a source is newer than its build, and the processes of the
// bench are compiled in the same way beside it: what users run does not go through tsx, which keeps the names of functions at the price of a
// call for each closure.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { isBuiltLater } from '../bin/build-state.js';
import { compileFiles } from '../bin/compile-files.js';

const cwd = fileURLToPath(new URL('../', import.meta.url));

if (!isBuiltLater()) {
  const { status } = spawnSync(process.execPath, ['bin/build.js'], { cwd, stdio: ['ignore', 'ignore', 'inherit'] });
  if (status !== 0) throw new Error('Building Lote for the bench: `npm run build` failed, see above');
}
await compileFiles(['bench/processes/*.ts', 'bench/measures/*.ts'], 'dist');
