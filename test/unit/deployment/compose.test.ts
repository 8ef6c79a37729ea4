import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { EnvSchema } from '../../../src/runtime/config/env-schema.ts';
import { readConfig } from '../../../src/runtime/config/config.ts';
import { ComposeFile, readComposeFile } from './compose-file.ts';

const compose = ComposeFile.parse(readComposeFile());
const services = Object.entries(compose.services);
const own = services.filter(([, { build }]) => build !== undefined);

/** A tag that names one version; `latest`, `16` or none at all move under one's feet. */
const PINNED = /^[\w./-]+:\d+\.\d+(\.\d+)?(-[\w.]+)?$/;

/** `${NAME:-default}` and `${NAME:?message}` as an operator's values would fill them. */
function filled(value: string): string {
  return value.replace(/\$\{(\w+):([-?])([^}]*)\}/g, (_, name: string, kind: string, rest: string) =>
    kind === '-' ? rest : (OPERATOR[name] ?? `missing-${name}`),
  );
}

const OPERATOR: Readonly<Record<string, string>> = {
  POSTGRES_PASSWORD: 'secret',
  INVOICING_BASE_URL: 'https://invoicing.example',
  INVOICING_API_KEY: 'sk_test_key',
  CONSOLE_TOKEN: 'token',
};

describe('docker-compose.yml', () => {
  it('holds the whole distributed form', () => {
    expect(Object.keys(compose.services).sort()).toEqual([
      'console',
      'postgresql',
      'receiver',
      'sandbox',
      'temporal',
      'temporal-namespace',
      'temporal-schema',
      'temporal-ui',
      'worker',
    ]);
  });

  it.each(services)('%s has an image with a pinned tag', (_, { image }) => {
    expect(image).toMatch(PINNED);
  });

  it.each(services)('%s waits only for services that exist, and in a way that they can fulfil', (_, service) => {
    for (const [name, { condition }] of Object.entries(service.depends_on ?? {})) {
      const target = compose.services[name];
      expect(target, name).toBeDefined();
      if (condition === 'service_healthy') expect(target?.healthcheck, `${name} needs a healthcheck`).toBeDefined();
      // A job that is started again after its success would never be completed.
      if (condition === 'service_completed_successfully') expect(target?.restart).toMatch(/^on-failure/);
    }
  });

  it('has no circle of services that wait for each other', () => {
    const waitsFor = (name: string): string[] => Object.keys(compose.services[name]?.depends_on ?? {});
    const reach = (name: string, path: readonly string[]): void => {
      expect(path).not.toContain(name);
      for (const next of waitsFor(name)) reach(next, [...path, name]);
    };

    for (const [name] of services) reach(name, []);
  });

  it.each(services)('%s mounts only volumes and configs that are declared', (_, service) => {
    const named = (service.volumes ?? [])
      .map((mount) => mount.split(':')[0] ?? '')
      .filter((name) => !/^[./]/.test(name));

    for (const name of named) expect(Object.keys(compose.volumes)).toContain(name);
    for (const { source } of service.configs ?? []) expect(Object.keys(compose.configs)).toContain(source);
  });

  it.each(services)('%s is published on loopback only', (_, { ports }) => {
    for (const port of ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:\d+:\d+$/);
  });

  it.each(['postgresql', 'temporal', 'receiver', 'console'])('%s has a health check', (name) => {
    expect(compose.services[name]?.healthcheck).toBeDefined();
  });

  it('runs each process of the image by its own command', () => {
    expect(Object.fromEntries(own.map(([name, { command }]) => [name, command]))).toEqual({
      worker: ['worker'],
      receiver: ['receiver'],
      console: ['console'],
      sandbox: ['sandbox'],
    });
    expect(readFileSync('Dockerfile', 'utf8')).toContain('ENTRYPOINT ["node", "bin/lote.js"]');
    expect(existsSync('bin/lote.js')).toBe(true);
  });

  it('passes the service profile on to each process that reads one, and to the sandbox the one that it speaks', () => {
    const passed = own.map(([name, { environment = {} }]) => [
      name,
      Object.entries(environment).filter(([variable]) => variable.endsWith('_PROFILE')),
    ]);

    const read = [['SERVICE_PROFILE', '${SERVICE_PROFILE:-}']];
    expect(Object.fromEntries(passed)).toEqual({
      ...{ worker: read, receiver: read, console: read },
      sandbox: [['SANDBOX_PROFILE', '${SANDBOX_PROFILE:-}']],
    });
  });

  it('can be scaled: the worker has no name and no port of its own', () => {
    const { worker } = compose.services;

    expect(worker).not.toHaveProperty('container_name');
    expect(worker).not.toHaveProperty('ports');
  });

  it.each(own)('%s gets only variables that Lote reads, with values that it takes', (_, service) => {
    const environment = Object.fromEntries(
      Object.entries(service.environment ?? {}).map(([name, value]) => [name, filled(value)]),
    );

    expect(Object.keys(EnvSchema.shape)).toEqual(expect.arrayContaining(Object.keys(environment)));
    expect(() => readConfig(environment)).not.toThrow();
  });

  it('holds no secret: each comes from the operator’s environment', () => {
    const secrets = services.flatMap(([, { environment }]) =>
      Object.entries(environment ?? {}).filter(([name]) => /PASSWORD|PWD|API_KEY|SECRET|TOKEN/.test(name)),
    );

    expect(secrets.length).toBeGreaterThan(0);
    for (const [name, value] of secrets) expect(value, name).toMatch(/^\$\{[A-Z_]+:[-?]/);
  });
});

describe('the check of the compose file', () => {
  const text = readFileSync('docker-compose.yml', 'utf8');

  it.each([
    ['a misspelt key', 'stop_grace_period', 'stop_grace_perod'],
    ['an unknown condition', 'service_healthy', 'service_helthy'],
    ['a number of retries that is none', 'retries: 30', 'retries: many'],
  ])('finds %s', (_, right, wrong) => {
    expect(text).toContain(right);

    expect(ComposeFile.safeParse(readComposeFile(text.replace(right, wrong))).success).toBe(false);
  });
});
