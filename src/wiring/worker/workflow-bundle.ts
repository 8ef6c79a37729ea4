import { createHash } from 'node:crypto';
import { access, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cacheDirectory } from '../../file-system/cache-directory.ts';
import { bundleWorkflows, writeBundle } from './bundle-workflows.ts';

/** Everything that workflow code is made of; an import from elsewhere is refused by .dependency-cruiser.cjs. */
const SOURCES = ['workflows', 'src/contract', 'src/domain', 'src/texts'];
const DIGEST_LENGTH = 12;
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

export type WorkflowBundle = { readonly codePath: string } | { readonly code: string };

/**
 * The bundled workflows: those that the build left beside the compiled code, or those of the user's cache, put there when these sources were never
 * bundled before. Bundling costs 3.4 s of CPU, which a start after a crash has no use for.
 */
export async function workflowBundle(env: NodeJS.ProcessEnv, root: string = ROOT): Promise<WorkflowBundle> {
  const found = await findBundle(env, root);
  if (found !== null) return found;
  const code = await bundleWorkflows(await entryOf(root));
  const cached = await cachedPath(env, root);
  try {
    await writeBundle(cached, code);
    return { codePath: cached };
  } catch {
    // A home that cannot be written to costs the next start these seconds again, and nothing else.
    return { code };
  }
}

/** The same, where it was bundled before; else null. */
export async function findBundle(env: NodeJS.ProcessEnv, root: string = ROOT): Promise<WorkflowBundle | null> {
  const built = join(root, 'workflow-bundle.js');
  if (await exists(built)) return { codePath: built };
  const cached = await cachedPath(env, root);
  return (await exists(cached)) ? { codePath: cached } : null;
}

async function cachedPath(env: NodeJS.ProcessEnv, root: string): Promise<string> {
  return join(cacheDirectory(env), 'workflow-bundles', `${await sourcesHash(root)}.js`);
}

/** Hexadecimal; names the workflows of a build, in `lote version` and in the history of each run. */
export async function bundleDigest(bundle: WorkflowBundle): Promise<string> {
  const code = 'code' in bundle ? bundle.code : await readFile(bundle.codePath);
  return createHash('sha256').update(code).digest('hex').slice(0, DIGEST_LENGTH);
}

/** Over names and contents of the sources, and over package.json, whose versions are exact: another SDK is another bundle. */
async function sourcesHash(root: string): Promise<string> {
  const hash = createHash('sha256');
  for (const file of await sourceFiles(root))
    hash.update(JSON.stringify([file, await readFile(join(root, file), 'utf8')]));
  const manifest = await readFile(join(root, 'package.json'), 'utf8').catch(() =>
    readFile(join(root, '../package.json'), 'utf8'),
  );
  return hash.update(manifest).digest('hex');
}

async function sourceFiles(root: string): Promise<readonly string[]> {
  const files: string[] = [];
  for (const folder of SOURCES) {
    const entries = await readdir(join(root, folder), { recursive: true });
    files.push(...entries.filter((name) => /\.[jt]s$/.test(name)).map((name) => join(folder, name)));
  }
  return files.toSorted();
}

async function entryOf(root: string): Promise<string> {
  const source = join(root, 'workflows/index.ts');
  return (await exists(source)) ? source : join(root, 'workflows/index.js');
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
