import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { afterAll } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** Inside the checkout, so that Node finds the packages. */
const CACHE = join(ROOT, '.cache');
const OPTIONS: ts.CompilerOptions = {
  module: ts.ModuleKind.ESNext,
  target: ts.ScriptTarget.ES2023,
  verbatimModuleSyntax: true,
  rewriteRelativeImportExtensions: true,
};

/**
 * Compiles a script once, with all its imports of the project, because tsx compiles at each start. Returns the path of
 * the result. Call it at the top of a test file; the result is removed when the file ends.
 */
export async function compiledProcess(script: URL): Promise<string> {
  await mkdir(CACHE, { recursive: true });
  const directory = await mkdtemp(join(CACHE, 'process-'));
  afterAll(() => rm(directory, { recursive: true, force: true }));
  // Some tests start the script under another account.
  await chmod(directory, 0o755);
  const path = fileURLToPath(script);
  const waiting = [path];
  for (const source of waiting) {
    const imported = await compile(source, compiledPath(directory, source));
    waiting.push(...imported.filter((one) => !waiting.includes(one)));
  }
  return compiledPath(directory, path);
}

function compiledPath(directory: string, source: string): string {
  return join(directory, relative(ROOT, source)).replace(/\.ts$/u, '.js');
}

/** Compiles a file. Returns the sources of the project that the file imports. */
async function compile(source: string, target: string): Promise<readonly string[]> {
  const { outputText } = ts.transpileModule(await readFile(source, 'utf8'), { compilerOptions: OPTIONS });
  await mkdir(dirname(target), { recursive: true });
  await writeFile(target, outputText);
  return ts
    .preProcessFile(outputText)
    .importedFiles.filter(({ fileName }) => fileName.startsWith('.'))
    .map(({ fileName }) => join(dirname(source), fileName).replace(/\.js$/u, '.ts'));
}
