import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../', import.meta.url));
let making: Promise<unknown> | null = null;

/** Builds the product and compiles the processes of the bench, once; the product only when a source is newer than its build. @throws when that fails */
export async function compileAll(): Promise<void> {
  making ??= run(process.execPath, ['bench/compile.js'], { cwd: ROOT });
  await making;
}

/** Where a process of the bench (`name.ts`) is compiled to, beside the product's own files. */
export function compiledPath(file: string): string {
  return `${ROOT}dist/bench/processes/${file.replace(/\.ts$/, '.js')}`;
}
