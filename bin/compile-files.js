import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
/** An import of a source, as esbuild writes it. */
const IMPORT = /(?<=\b(?:from |import |import\())"(\.{1,2}\/[^"]+)\.ts"/gu;

/** What every compilation of a source shares: names of functions are not kept, which would cost a call for each closure. */
export const SETTINGS = {
  absWorkingDir: ROOT,
  outbase: '.',
  format: 'esm',
  target: 'node20',
  sourcemap: true,
  sourcesContent: false,
  metafile: true,
};

/** Compiles sources file by file into a folder, at their paths in the checkout. */
export async function compileFiles(entryPoints, outdir) {
  const { metafile } = await build({ ...SETTINGS, entryPoints, outdir });
  const compiled = Object.keys(metafile.outputs).filter((name) => name.endsWith('.js'));
  await Promise.all(compiled.map((name) => join(ROOT, name)).map(nameCompiled));
}

/** esbuild leaves imports as they are; the compiled file has another extension. */
async function nameCompiled(path) {
  const code = await readFile(path, 'utf8');
  await writeFile(path, code.replaceAll(IMPORT, '"$1.js"'));
}
