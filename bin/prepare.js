// Runs at the end of `npm ci` in a checkout: Lote starts faster from a build. Without the compiler, or without sources, there is
// nothing to build, and after a build that failed the sources run.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { isBuiltLater, isSource } from './build-state.js';

const cwd = fileURLToPath(new URL('../', import.meta.url));

if (isSource() && existsSync(`${cwd}node_modules/esbuild`) && !isBuiltLater()) {
  const { status } = spawnSync(process.execPath, ['bin/build.js'], { cwd, stdio: 'inherit' });
  if (status !== 0) process.stderr.write('Lote was not built; it will run from its sources, which starts slower.\n');
}
