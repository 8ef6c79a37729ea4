import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LoteError } from '../../domain/errors.ts';
import { cacheDirectory, replaceFile } from '../../platform/files.ts';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { VERSION } from '../version.ts';

/** All folders of workflow code; .dependency-cruiser.cjs refuses other imports. */
const SOURCES = ['workflows', 'src/domain', 'src/texts'];
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

export type WorkflowBundle = { readonly codePath: string } | { readonly code: string };

/**
 * Returns the bundled workflows beside the compiled code or in the user's cache, bundling these sources if they are
 * new. Bundling costs 3.4 s of CPU, which a start after a crash should save.
 */
export async function workflowBundle(env: NodeJS.ProcessEnv, root: string = ROOT): Promise<WorkflowBundle> {
  const built = join(root, 'workflow-bundle.js');
  if (await isUsable(built)) return { codePath: built };
  // The compiled product has no sources to hash, so its own bundle comes first.
  const cached = join(cacheDirectory(env), 'workflow-bundles', `${await sourcesHash(root)}.js`);
  if (await isUsable(cached)) return { codePath: cached };
  const source = join(root, 'workflows/index.ts');
  const code = await bundleWorkflows(existsSync(source) ? source : join(root, 'workflows/index.js'));
  try {
    await writeBundle(cached, code);
    return { codePath: cached };
  } catch {
    // If the home is not writable, only the next start bundles again.
    return { code };
  }
}

/** A full disk or a crash may have left half a bundle, with which no worker starts; Lote then makes it again. */
async function isUsable(path: string): Promise<boolean> {
  return buildOf(await readFile(path, 'utf8').catch(() => '')) !== null;
}

/** Returns a bundle's build. @throws LoteError `internal` when the bundle was damaged since it was found */
export async function requireBuild(bundle: WorkflowBundle): Promise<string> {
  const build = buildOf('code' in bundle ? bundle.code : await readFile(bundle.codePath, 'utf8'));
  if (build !== null) return build;
  throw new LoteError('internal', 'Starting a worker: the bundle of its workflows was damaged. Start Lote again.');
}

/** Hashes names and contents of the sources, and package.json, whose exact versions include the SDK's. */
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

const DIGEST_LENGTH = 12;
const SEAL = /^const LOTE_BUILD="(?<build>[^"+]+\+(?<digest>[0-9a-f]{12}))";/u;

/** Bundles the workflow code, which costs 3.4 s of CPU. */
export async function bundleWorkflows(workflowsPath: string): Promise<string> {
  const { code } = await bundleWorkflowCode({
    workflowsPath,
    logger: new DefaultLogger('ERROR'),
  });
  return sealed(code);
}

/**
 * Prepends a constant with the build: version and digest. It is on the first line, so that no line moves;
 * `workflows/pin-build.ts` reads it.
 */
export function sealed(code: string): string {
  return `const LOTE_BUILD="${VERSION}+${digestOf(code)}";${code}`;
}

/** Returns the build of a bundle, such as `0.2.0+9f86d081884c`, or null if the bundle has changed since it was made. */
function buildOf(bundle: string): string | null {
  const found = SEAL.exec(bundle);
  const { build, digest } = found?.groups ?? {};
  return digest === digestOf(bundle.slice(found?.[0].length)) ? (build ?? null) : null;
}

function digestOf(code: string): string {
  return createHash('sha256').update(code).digest('hex').slice(0, DIGEST_LENGTH);
}

/** Writes the file atomically, because half a bundle would break every later start. */
export async function writeBundle(target: string, code: string): Promise<void> {
  await mkdir(dirname(target), { recursive: true });
  await replaceFile(target, code, 0o644);
}
