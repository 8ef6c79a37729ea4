import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { goProgram } from './go-program.ts';
import { kubernetesSchemas } from './kubernetes-schemas.ts';

const run = promisify(execFile);
const CHART = 'deploy/helm/lote';
const MOST_BYTES = 16 * 1024 * 1024;
const HELM = { name: 'helm', package: 'helm.sh/helm/v3/cmd/helm', version: 'v3.18.4' };
const KUBECONFORM = {
  name: 'kubeconform',
  package: 'github.com/yannh/kubeconform/cmd/kubeconform',
  version: 'v0.7.0',
};

/** The oldest Kubernetes that the chart allows, and the newest whose schemas are known here. */
export const KUBERNETES_VERSIONS = ['1.30.0', '1.37.0'] as const;

/** Values of the chart, or an object of Kubernetes. */
export type Yaml = Readonly<Record<string, unknown>>;

/** What checks a chart; each rejects with what the program says when it finds a mistake. */
export interface ChartPrograms {
  lint(values: Yaml): Promise<string>;
  render(values: Yaml, version?: string): Promise<readonly Yaml[]>;
  /** Against the schemas of a version of Kubernetes, in which nothing unknown is allowed. */
  conform(objects: readonly Yaml[], version: string): Promise<string>;
}

/** Helm and kubeconform with the schemas; null: they are not here and cannot be had, and `notify` says why. */
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
