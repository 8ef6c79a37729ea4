import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { afterAll } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** Inside the checkout, from where packages are found. */
const CACHE = join(ROOT, '.cache');
const OPTIONS: ts.CompilerOptions = {
  module: ts.ModuleKind.ESNext,
  target: ts.ScriptTarget.ES2023,
  verbatimModuleSyntax: true,
  rewriteRelativeImportExtensions: true,
};

/**
 * The path of a script that is compiled once, with everything that it imports of the project: tsx compiles at each start. To be called
 * at the top of a test file, whose end removes it.
 */
export async function compiledProcess(script: URL): Promise<string> {
  await mkdir(CACHE, { recursive: true });
  const directory = await mkdtemp(join(CACHE, 'process-'));
  afterAll(() => rm(directory, { recursive: true, force: true }));
  // Some tests start it under another account.
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

/** Gives the sources of the project that the compiled file imports. */
async function compile(source: string, target: string): Promise<readonly string[]> {
  const { outputText } = ts.transpileModule(await readFile(source, 'utf8'), { compilerOptions: OPTIONS });
  await mkdir(dirname(target), { recursive: true });
  await writeFile(target, outputText);
  return ts
    .preProcessFile(outputText)
    .importedFiles.filter(({ fileName }) => fileName.startsWith('.'))
    .map(({ fileName }) => join(dirname(source), fileName).replace(/\.js$/u, '.ts'));
}
