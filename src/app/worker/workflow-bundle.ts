import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { replaceFile } from '../../platform/files.ts';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { VERSION } from '../version.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/**
 * Returns bundled workflows and their build, such as `0.2.0+9f86d081884c`: the bundle at `path`, by default beside the compiled code. Without a whole one, bundles these sources, or this
 * compiled code: a full disk or a crash may have left half a bundle, with which no worker starts.
 */
export async function workflowBundle(path: string = join(ROOT, 'workflow-bundle.js')) {
  const build = buildOf(await readFile(path, 'utf8').catch(() => ''));
  if (build !== null) return { bundle: { codePath: path }, build };
  const source = join(ROOT, 'workflows/index.ts');
  const code = await bundleWorkflows(existsSync(source) ? source : join(ROOT, 'workflows/index.js'));
  return { bundle: { code }, build: buildOf(code) ?? '' };
}

const DIGEST_LENGTH = 12;
const SEAL = /^const LOTE_BUILD="(?<build>[^"+]+\+(?<digest>[0-9a-f]{12}))";/u;

/** Bundles the workflow code, which costs 3.4 s of CPU. */
export async function bundleWorkflows(workflowsPath: string): Promise<string> {
  const { code } = await bundleWorkflowCode({
    workflowsPath,
    logger: new DefaultLogger('ERROR'),
    // Stack traces need positions. The sources would double the bundle, of which each worker keeps several copies.
    webpackConfigHook: (config) => ({ ...config, devtool: 'inline-nosources-source-map' }),
  });
  return sealed(code);
}

/**
 * Prepends a constant with the build: version and digest. It is on the first line, so that no line moves;
 * `workflows/pin-build.ts` reads it. Escapes characters beyond ASCII: one of them doubles the memory that V8 takes for the whole text.
 */
export function sealed(bundled: string): string {
  const code = bundled.replaceAll(/[^\0-\x7F]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return `const LOTE_BUILD="${VERSION}+${digestOf(code)}";${code}`;
}

/** Returns the build of a bundle, or null if the bundle has changed since it was made. */
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
