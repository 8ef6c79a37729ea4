import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cacheDirectory } from '../../../src/file-system/cache-directory.ts';
import { buildEnvironment } from '../../../src/runtime/process/child-environment.ts';

const run = promisify(execFile);
/** The package of the Python registry that carries the JSON schemas of all supported versions of Kubernetes. */
const PACKAGE = 'kubernetes-validate';
const PACKAGE_VERSION = '1.37.0';
const IN_PACKAGE = 'kubernetes_validate/kubernetes-json-schema';

/**
 * The folder with the strict schemas of these versions of Kubernetes (`1.30.0`), a folder `v1.30.0` each, in the user's cache; what is missing
 * there is fetched once.
 * @throws Error when Python's registry cannot be reached, or does not have them.
 */
export async function kubernetesSchemas(versions: readonly string[], notify: (line: string) => void): Promise<string> {
  const folder = join(cacheDirectory(process.env), `kubernetes-schemas-${PACKAGE_VERSION}`);
  if (versions.every((version) => existsSync(join(folder, `v${version}`)))) return folder;
  notify(`Fetching the schemas of Kubernetes (${PACKAGE} ${PACKAGE_VERSION}, once) …`);
  const fetched = `${folder}.fetching-${randomUUID()}`;
  await mkdir(fetched, { recursive: true });
  try {
    const env = buildEnvironment(process.env);
    await run(
      'python3',
      ['-m', 'pip', 'download', '--quiet', '--no-deps', '--dest', fetched, `${PACKAGE}==${PACKAGE_VERSION}`],
      { env },
    );
    const [wheel = ''] = (await readdir(fetched)).filter((name) => name.endsWith('.whl'));
    await run('python3', ['-m', 'zipfile', '-e', join(fetched, wheel), fetched], { env });
    const ready = join(fetched, 'ready');
    for (const version of versions)
      await copyLocal(join(fetched, IN_PACKAGE, `v${version}-local-strict`), join(ready, `v${version}`));
    await rm(folder, { recursive: true, force: true });
    await rename(ready, folder);
  } finally {
    await rm(fetched, { recursive: true, force: true });
  }
  return folder;
}

/** Their ids are addresses of the web, to which references would lead: here they lead to the file beside them. */
async function copyLocal(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  for (const name of await readdir(from)) {
    const {
      $id: _,
      $schema: _draft,
      ...schema
    } = JSON.parse(await readFile(join(from, name), 'utf8')) as Record<string, unknown>;
    const text = JSON.stringify(schema).replaceAll('"/api/_definitions.json#', '"_definitions.json#');
    await writeFile(join(to, name), text.replaceAll('$defs', 'definitions'));
  }
}
