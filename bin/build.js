// `node bin/build.js [folder]`: compiles the sources to `dist`, or to another folder. Nothing looks at types here:
// `npm run check` does, and takes ten times as long.
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { BEGUN } from './build-state.js';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const out = join(ROOT, process.argv[2] ?? 'dist');
/** An import of a source, as esbuild writes it. */
const IMPORT = /(?<=\b(?:from |import |import\())"(\.{1,2}\/[^"]+)\.ts"/gu;

// What was compiled from a file that is gone must not be imported.
rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
writeFileSync(join(out, BEGUN), '');
const { metafile } = await build({
  absWorkingDir: ROOT,
  entryPoints: ['src/**/*.ts', 'workflows/**/*.ts', 'activities/**/*.ts'],
  outbase: '.',
  outdir: out,
  format: 'esm',
  target: 'node20',
  sourcemap: true,
  sourcesContent: false,
  metafile: true,
});
const compiled = Object.keys(metafile.outputs).filter((name) => name.endsWith('.js'));
await Promise.all(compiled.map((name) => join(ROOT, name)).map(nameCompiled));
const bundled = spawnSync(process.execPath, [join(out, 'src/build-workflow-bundle.js')], { stdio: 'inherit' });
process.exitCode = bundled.status ?? 1;

/** esbuild leaves imports as they are; the compiled file has another extension. */
async function nameCompiled(path) {
  const code = await readFile(path, 'utf8');
  await writeFile(path, code.replaceAll(IMPORT, '"$1.js"'));
}
