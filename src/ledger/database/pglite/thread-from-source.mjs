// Entry of the worker thread in a checkout: Node 20 gives a worker no loader of its parent. A loader of its own costs each thread 0.3 s of computing, so the thread
// is compiled once for each process: the compiled file is taken if it was written since the process began.
import { mkdirSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { threadId } from 'node:worker_threads';

// Inside the checkout, from where packages are found.
const compiled = fileURLToPath(new URL('../../../../.cache/ledger-thread/thread.mjs', import.meta.url));

if (isCompiled() || compile()) {
  await import(pathToFileURL(compiled).href);
} else {
  const { register } = await import('tsx/esm/api');
  register();
  await import('./thread.ts');
}

function isCompiled() {
  const begun = Date.now() - process.uptime() * 1_000;
  return (statSync(compiled, { throwIfNoEntry: false })?.mtimeMs ?? 0) > begun;
}

/** False where nothing can be written. */
function compile() {
  // The compiler that tsx has.
  const { buildSync } = /** @type {typeof import('esbuild')} */ (
    createRequire(createRequire(import.meta.url).resolve('tsx'))('esbuild')
  );
  const entryPoints = [fileURLToPath(new URL('./thread.ts', import.meta.url))];
  /** @type {import('esbuild').BuildOptions} */
  const settings = { bundle: true, packages: 'external', platform: 'node', format: 'esm', target: 'node20' };
  const text = buildSync({ ...settings, entryPoints, write: false }).outputFiles[0]?.text ?? '';
  // Another thread may read the file at this moment.
  const own = `${compiled}.${process.pid}.${threadId}`;
  try {
    mkdirSync(dirname(compiled), { recursive: true });
    writeFileSync(own, text);
    renameSync(own, compiled);
    return true;
  } catch {
    return false;
  }
}
