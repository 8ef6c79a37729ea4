import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile, mkdir, readdir, readFile, rename } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { goProgram } from './go-program.ts';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cacheDirectory } from '../../../src/platform/files.ts';
import { buildEnvironment } from '../../../src/app/process/child-environment.ts';

const run = promisify(execFile);
/** The package of Python's registry that contains the JSON schemas of all supported versions of Kubernetes. */
const PACKAGE = 'kubernetes-validate';
const PACKAGE_VERSION = '1.37.0';
const IN_PACKAGE = 'kubernetes_validate/kubernetes-json-schema';

/**
 * Returns the folder in the user's cache with the strict schemas of these Kubernetes versions (`1.30.0`), a folder
 * `v1.30.0` for each version. Fetches missing schemas once.
 * @throws Error when Python's registry cannot be reached, or does not have them.
 */
async function kubernetesSchemas(versions: readonly string[], notify: (line: string) => void): Promise<string> {
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

/** Copies schemas and makes their references local: their ids are web addresses, which a checker would fetch. */
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

const CHART = 'deploy/helm/lote';
const MOST_BYTES = 16 * 1024 * 1024;
const HELM = { name: 'helm', package: 'helm.sh/helm/v3/cmd/helm', version: 'v3.18.4' };
const KUBECONFORM = {
  name: 'kubeconform',
  package: 'github.com/yannh/kubeconform/cmd/kubeconform',
  version: 'v0.7.0',
};

/** The oldest Kubernetes version that the chart allows, and the newest one with known schemas. */
export const KUBERNETES_VERSIONS = ['1.30.0', '1.37.0'] as const;

/** Values of the chart, or an object of Kubernetes. */
export type Yaml = Readonly<Record<string, unknown>>;

/** The programs that check a chart. Each rejects with the program's output if the program finds a mistake. */
export interface ChartPrograms {
  lint(values: Yaml): Promise<string>;
  render(values: Yaml, version?: string): Promise<readonly Yaml[]>;
  /** Checks objects against the schemas of a Kubernetes version, which allow no unknown fields. */
  conform(objects: readonly Yaml[], version: string): Promise<string>;
}

/** Returns Helm and kubeconform with the schemas. If they cannot be had, tells `notify` why and resolves to null. */
export async function chartPrograms(notify: (line: string) => void): Promise<ChartPrograms | null> {
  try {
    const helm = await goProgram(HELM, notify);
    const kubeconform = await goProgram(KUBECONFORM, notify);
    return programsOf(helm, kubeconform, await kubernetesSchemas(KUBERNETES_VERSIONS, notify));
  } catch (error) {
    notify(`The chart is not checked: helm, kubeconform or the schemas of Kubernetes cannot be had. ${String(error)}`);
    return null;
  }
}

function programsOf(helm: string, kubeconform: string, schemas: string): ChartPrograms {
  return {
    lint: (values) => withFile(JSON.stringify(values), (file) => said(helm, ['lint', '--strict', CHART, '-f', file])),
    async render(values, version = KUBERNETES_VERSIONS[0]) {
      const text = await withFile(JSON.stringify(values), (file) =>
        said(helm, ['template', 'night', CHART, '-f', file, '--kube-version', version]),
      );
      return parseAllDocuments(text).map((document) => document.toJS() as Yaml);
    },
    conform: (objects, version) =>
      withFile(objects.map((object) => JSON.stringify(object)).join('\n---\n'), (file) =>
        said(kubeconform, [
          ...['-strict', '-summary', '-kubernetes-version', version],
          ...['-schema-location', `${schemas}/v${version}/{{ .ResourceKind }}{{ .KindSuffix }}.json`],
          file,
        ]),
      ),
  };
}

async function withFile<T>(text: string, use: (file: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'lote-chart-'));
  try {
    const file = join(folder, 'input.yaml');
    await writeFile(file, text);
    return await use(file);
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function said(command: string, parameters: readonly string[]): Promise<string> {
  try {
    return (await run(command, [...parameters], { maxBuffer: MOST_BYTES })).stdout;
  } catch (error) {
    const { stdout, stderr } = error as { readonly stdout?: string; readonly stderr?: string };
    throw new Error(`${stdout ?? ''}${stderr ?? ''}`, { cause: error });
  }
}
