import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { SCHEMA_VERSION } from '../../src/ledger/migrate.ts';
import { readConfig } from '../../src/app/config/config.ts';
import { SECRET_VARIABLES } from '../../src/app/config/environment.ts';
import { EnvSchema } from '../../src/app/config/env-schema.ts';
import { newPlace, runLote } from '../support/lote/lote-command.ts';
import { chartPrograms, KUBERNETES_VERSIONS, type Yaml } from '../support/programs/chart-programs.ts';
import { postgresDatabase } from '../support/servers/postgres-database.ts';

const TEMPLATES = 'deploy/helm/lote/templates';
const FOLDER_OF_SECRETS = '/run/secrets/lote/';

const programs = await chartPrograms((line) => process.stderr.write(`${line}\n`));
const server = inject('postgresUrl');

/** What an operator must say. */
const FEWEST = {
  database: { host: 'postgresql', password: { secret: 'lote-database' } },
  temporal: { address: 'temporal-frontend:7233' },
  service: {
    baseUrl: 'https://invoicing.example',
    webhookUrl: 'https://hooks.example/webhooks',
    apiKey: { secret: 'lote-service' },
  },
  console: { url: 'https://lote.example', token: { secret: 'lote-console' } },
};

/** Everything that the chart can make. */
const ALL = {
  ...FEWEST,
  image: { repository: 'registry.example/lote', digest: `sha256:${'a'.repeat(64)}` },
  imagePullSecrets: [{ name: 'registry' }],
  settings: { LOTE_SEND_TIMEOUT: '1h' },
  message: {
    settings: {
      LOTE_SMTP_URL: 'smtps://mail.example:465',
      LOTE_SMTP_USER: 'lote',
      LOTE_MAIL_FROM: 'lote@example.com',
      LOTE_MAIL_TO: 'office@example.com',
    },
    smtpPassword: { secret: 'lote-mail' },
  },
  temporal: {
    ...FEWEST.temporal,
    ...{ tls: true, apiKey: { secret: 'lote-temporal' }, clientCertificate: { secret: 'lote-certificate' } },
    uiUrl: 'https://temporal.example',
  },
  service: { ...FEWEST.service, webhookSecret: { secret: 'lote-service' }, profile: '{ "limits": {} }\n' },
  storage: { existingClaim: 'folders' },
  worker: { autoscaling: { enabled: true }, nodeSelector: { zone: 'a' }, tolerations: [{ operator: 'Exists' }] },
  receiver: { ingress: { enabled: true, host: 'hooks.example', tlsSecret: 'hooks', className: 'nginx' } },
  console: {
    ...FEWEST.console,
    people: { trustedProxies: ['10.1.0.0/24', 'fd00::5'], operators: ['ana'], operatorGroups: ['billing'] },
  },
  networkPolicy: {
    receiverFrom: [{ namespaceSelector: {} }],
    consoleFrom: [{ podSelector: { matchLabels: { app: 'oauth2-proxy' } } }],
    metricsFrom: [{ ipBlock: { cidr: '10.0.0.0/8' } }],
  },
};

interface Variable {
  readonly name: string;
  readonly value: string;
}
interface Container {
  readonly args: readonly string[];
  readonly env: readonly Variable[];
  readonly securityContext: Yaml;
  readonly resources: { readonly requests: Yaml; readonly limits: Yaml };
  readonly readinessProbe?: { readonly httpGet: { readonly path: string } };
  readonly livenessProbe?: { readonly httpGet: { readonly path: string } };
}
interface Pod {
  readonly metadata: { readonly labels: Readonly<Record<string, string>> };
  readonly spec: Yaml & { readonly containers: readonly Container[]; readonly volumes: readonly Yaml[] };
}
interface Rendered {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: Yaml;
}

async function rendered(values: Yaml): Promise<readonly Rendered[]> {
  return ((await programs?.render(values)) ?? []) as unknown as readonly Rendered[];
}

/** The pods by the name of what they run. */
function podsOf(objects: readonly Rendered[]): ReadonlyMap<string, Pod> {
  const made = objects.filter(({ kind }) => kind === 'Deployment' || kind === 'Job');
  return new Map(
    made.map(({ spec }) => {
      const pod = spec['template'] as Pod;
      return [pod.metadata.labels['app.kubernetes.io/component'] ?? '', pod];
    }),
  );
}

/** Names of the files of secrets that a pod has, with the Secrets that they are from. */
function secretsOf({ spec }: Pod): ReadonlyMap<string, string> {
  const projected = spec.volumes.flatMap((volume) => {
    const { sources = [] } = (volume['projected'] ?? {}) as { readonly sources?: readonly { secret: Projected }[] };
    return sources.map(({ secret }) => secret);
  });
  return new Map(projected.flatMap(({ name, items }) => items.map(({ path }) => [path, name] as const)));
}

interface Projected {
  readonly name: string;
  readonly items: readonly { readonly path: string }[];
}

/** The variables of a pod, with its files of secrets in a folder of the test. */
async function environmentOf(pod: Pod): Promise<Readonly<Record<string, string>>> {
  const folder = await mkdtemp(join(tmpdir(), 'lote-chart-secrets-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  for (const file of secretsOf(pod).keys()) await writeFile(join(folder, file), 'sk_test_secret\n');
  const [container] = pod.spec.containers;
  return Object.fromEntries(
    (container?.env ?? []).map(({ name, value }) => [name, value.replace(FOLDER_OF_SECRETS, `${folder}/`)]),
  );
}

describe('the chart lote', () => {
  it('names only variables that the product reads', async () => {
    const texts = await Promise.all((await readdir(TEMPLATES)).map((name) => readFile(join(TEMPLATES, name), 'utf8')));
    const names = texts.flatMap((text) => [...text.matchAll(/- name: ([A-Z][A-Z0-9_]+)$/gmu)].map(([, name]) => name));

    expect(names.length).toBeGreaterThan(20);
    // TZ is the runtime's, below Lote.
    const ofLibraries = ['PGUSER', 'TEMPORAL_TLS', 'TEMPORAL_TLS_CLIENT_CERT_PATH', 'TEMPORAL_TLS_CLIENT_KEY_PATH'];
    const known = [
      'TZ',
      ...ofLibraries,
      ...Object.keys(EnvSchema.shape),
      ...SECRET_VARIABLES.map((secret) => `${secret}_FILE`),
    ];
    expect(names.filter((name) => !known.includes(name ?? ''))).toEqual([]);
  });

  it.skipIf(server === null)('brings an empty ledger up to date by the command of its migration job', async () => {
    const text = await readFile(join(TEMPLATES, 'migration.yaml'), 'utf8');
    const command = /args: \[(.+)\]/u.exec(text)?.[1] ?? '';
    const [place, database] = [await newPlace(), await postgresDatabase(server ?? '')];
    onTestFinished(async () => {
      await database.drop();
      await place.remove();
    });

    const { code, stderr } = await runLote([command], { ...place.env, DATABASE_URL: database.url });

    expect([code, stderr]).toEqual([0, '']);
    const rows = await database.rows<{ version: number }>('SELECT max(version) AS version FROM ledger_migration');
    expect(rows).toEqual([{ version: SCHEMA_VERSION }]);
  });
});

describe.skipIf(programs === null)('the chart lote, as Helm renders it', () => {
  it.each([
    ['the fewest values', FEWEST],
    ['all values', ALL],
  ])('passes helm lint with %s', async (_, values) => {
    expect(await programs?.lint(values)).toContain('0 chart(s) failed');
  });

  it.each(KUBERNETES_VERSIONS)('makes objects that Kubernetes %s knows, field by field', async (version) => {
    for (const values of [FEWEST, ALL]) {
      const objects = (await programs?.render(values, version)) ?? [];

      expect(objects.length).toBeGreaterThan(12);
      expect(await programs?.conform(objects, version)).toContain(`Valid: ${objects.length}, Invalid: 0, Errors: 0`);
    }
  });

  it('is checked against schemas that find a misspelt field', async () => {
    const [version] = KUBERNETES_VERSIONS;
    const object = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'x' }, automountTokens: false };

    await expect(programs?.conform([object], version)).rejects.toThrow('automountTokens');
  });

  it.each(['worker', 'receiver', 'console', 'migration'])(
    'gives %s an environment that it starts with',
    async (name) => {
      for (const values of [FEWEST, ALL]) {
        const pod = podsOf(await rendered(values)).get(name);
        expect(pod).toBeDefined();
        if (pod === undefined) return;
        const [{ args } = { args: [] }] = pod.spec.containers;

        const environment = await environmentOf(pod);
        const config = readConfig(environment, '/', name === 'console' ? 'nothing' : 'requests');

        expect(args).toEqual([name === 'migration' ? 'status' : name]);
        // node-postgres itself reads the role.
        expect(config.databaseUrl).toBe('postgresql://postgresql:5432/lote?password=sk_test_secret');
        expect(environment['PGUSER']).toBe('lote');
      }
    },
  );

  it('hands the settings of people on to the console', async () => {
    const pod = podsOf(await rendered(ALL)).get('console');
    const { console: place } = readConfig(pod === undefined ? {} : await environmentOf(pod), '/', 'nothing');

    expect(place.signIn).toMatchObject({ trustedProxies: ['10.1.0.0/24', 'fd00::5'], operatorGroups: ['billing'] });
  });

  it('mounts each secret only where it is needed', async () => {
    const files = new Map(
      [...podsOf(await rendered(ALL))].map(([name, pod]) => [name, [...secretsOf(pod).keys()].toSorted()]),
    );

    const temporal = ['temporal-api-key', 'temporal-client.crt', 'temporal-client.key'];
    const service = ['database-password', 'invoicing-api-key', ...temporal, 'webhook-secret'];
    expect(Object.fromEntries(files)).toEqual({
      worker: [...service, 'smtp-password'].toSorted(),
      receiver: service,
      console: ['console-token', 'database-password', ...temporal],
      migration: ['database-password'],
    });
  });

  it('runs nothing as root, on a root that can be written, or with rights of the cluster', async () => {
    for (const [name, { spec }] of podsOf(await rendered(ALL))) {
      expect([name, spec['securityContext']]).toMatchObject([
        name,
        { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
      ]);
      expect(spec).toMatchObject({ automountServiceAccountToken: false, enableServiceLinks: false });
      for (const { securityContext, resources } of spec.containers) {
        expect(securityContext).toEqual({
          ...{ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true },
          capabilities: { drop: ['ALL'] },
        });
        expect(resources.requests).toHaveProperty('memory');
        expect(resources.limits).toHaveProperty('memory');
      }
    }
  });

  it('asks the probes that each process has', async () => {
    for (const [name, { spec }] of podsOf(await rendered(FEWEST))) {
      if (name === 'migration') continue;
      const [container] = spec.containers;
      expect(container?.livenessProbe?.httpGet.path).toBe('/health/live');
      expect(container?.readinessProbe?.httpGet.path).toBe('/health/ready');
    }
  });

  it('keeps two receivers, and one of them through a drain', async () => {
    const objects = await rendered(FEWEST);
    const of = (kind: string) => objects.find((one) => one.kind === kind && one.metadata.name === 'night-receiver');

    expect(of('Deployment')?.spec['replicas']).toBe(2);
    expect(of('PodDisruptionBudget')?.spec['maxUnavailable']).toBe(1);
  });

  it('leaves the number of workers to the autoscaler, where there is one', async () => {
    const workers = async (values: Yaml) =>
      (await rendered(values)).find((one) => one.kind === 'Deployment' && one.metadata.name === 'night-worker');

    expect((await workers(FEWEST))?.spec['replicas']).toBe(2);
    expect((await workers(ALL))?.spec).not.toHaveProperty('replicas');
    const scaler = (await rendered(ALL)).find(({ kind }) => kind === 'HorizontalPodAutoscaler');
    expect(scaler?.spec).toMatchObject({
      scaleTargetRef: { kind: 'Deployment', name: 'night-worker' },
      metrics: [{ external: { metric: { name: 'lote_task_queue_backlog' } } }],
    });
  });

  it('has one network policy for each pod, that admits only what is named', async () => {
    const objects = await rendered(FEWEST);
    const policies = objects.filter(({ kind }) => kind === 'NetworkPolicy');
    const selected = policies.map(
      ({ spec }) => (spec['podSelector'] as { matchLabels: Record<string, string> }).matchLabels,
    );

    for (const [name, { metadata }] of podsOf(objects)) {
      const fitting = selected.filter((labels) =>
        Object.entries(labels).every(([key, value]) => metadata.labels[key] === value),
      );
      expect([name, fitting.length]).toEqual([name, 1]);
    }
    for (const { spec } of policies) {
      expect(spec['policyTypes']).toEqual(['Ingress', 'Egress']);
      expect(spec['ingress'] ?? []).toEqual([]);
    }
  });

  it.each<[string, Yaml, string]>([
    ['a value that it does not know', { worker: { repicas: 3 } }, 'repicas'],
    ['one receiver', { receiver: { replicas: 1 } }, 'replicas'],
    ['a variable that is not of Lote', { settings: { PATH: '/bin' } }, 'settings'],
    ['a password among the settings', { settings: { LOTE_SMTP_PASSWORD: 'x' } }, 'settings'],
    ['a plain webhook address', { service: { ...FEWEST.service, webhookUrl: 'http://x' } }, 'webhookUrl'],
    ['a service without a key', { service: { ...FEWEST.service, apiKey: {} } }, 'apiKey'],
    ['an ingress without a certificate', { receiver: { ingress: { enabled: true, host: 'h' } } }, 'tlsSecret'],
    ['a console that nobody may open', { console: { url: 'https://lote.example' } }, 'trustedProxies'],
  ])('refuses %s', async (_, values, named) => {
    await expect(programs?.render({ ...FEWEST, ...values })).rejects.toThrow(named);
  });
});
