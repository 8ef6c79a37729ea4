// `node bin/build.js [folder]`: compiles the sources to `dist`, or to another folder. Nothing looks at types here:
// `npm run check` does, and takes ten times as long.
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { BEGUN } from './build-state.js';
import { compileFiles, SETTINGS } from './compile-files.js';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const out = join(ROOT, process.argv[2] ?? 'dist');
/** Packages of plain ESM that every command reads; zod alone is a hundred files. */
const BUNDLED = /^(?:@streamparser\/json|big\.js|csv-parse|ms|zod)$/u;
/** Where the parts of the bundled command line go. */
const PARTS = 'src/cli/parts';

/** Other packages stay where they are: some are not ESM, some are native. */
const packagesApart = {
  name: 'packages apart',
  setup({ onResolve }) {
    onResolve({ filter: /^[^./]/ }, ({ path }) => (BUNDLED.test(path) ? undefined : { path, external: true }));
  },
};

/** A file that looks for others beside itself finds them where it was compiled to, whichever part it is in. */
const addressesAsCompiled = {
  name: 'addresses as compiled',
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      const code = await readFile(path, 'utf8');
      const compiled = join(out, relative(ROOT, path)).replace(/\.ts$/u, '.js');
      const address = JSON.stringify(relative(join(out, PARTS), compiled));
      return {
        contents: code.replaceAll('import.meta.url', `new URL(${address}, import.meta.url).href`),
        loader: 'ts',
        resolveDir: dirname(path),
      };
    });
  },
};

// What was compiled from a file that is gone must not be imported.
rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
writeFileSync(join(out, BEGUN), '');
// File by file: workers, threads and other processes, and what the workflow bundle is made of.
await compileFiles(['src/**/*.ts', 'workflows/**/*.ts', 'activities/**/*.ts'], out);
await bundleCommandLine();
const bundled = spawnSync(process.execPath, [join(out, 'src/build-workflow-bundle.js')], { stdio: 'inherit' });
process.exitCode = bundled.status ?? 1;

/**
 * The command line in few files, each loaded when a command needs it: to find and compile two hundred small ones takes a quarter of the CPU time of
 * `lote check`.
 */
async function bundleCommandLine() {
  await build({
    ...SETTINGS,
    outdir: out,
    entryPoints: ['src/cli/main.ts'],
    bundle: true,
    splitting: true,
    platform: 'node',
    chunkNames: `${PARTS}/[name]-[hash]`,
    allowOverwrite: true,
    plugins: [packagesApart, addressesAsCompiled],
  });
}
