// Runs at the end of `npm ci` in a checkout: Lote starts faster from a build. Without the compiler, or without sources, there is
// nothing to build, and after a build that failed the sources run. A first start also needs an empty ledger to copy: it is made here, once
// per user and version, and by that start where it could not be made.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { isBuiltLater, isSource } from './build-state.js';

const cwd = fileURLToPath(new URL('../', import.meta.url));

if (isSource() && existsSync(`${cwd}node_modules/esbuild`) && !isBuiltLater()) {
  const { status } = spawnSync(process.execPath, ['bin/build.js'], { cwd, stdio: 'inherit' });
  if (status !== 0) process.stderr.write('Lote was not built; it will run from its sources, which starts slower.\n');
}
if (isSource() && isBuiltLater())
  spawnSync(process.execPath, ['dist/src/make-ledger-template.js'], { cwd, stdio: 'ignore' });
