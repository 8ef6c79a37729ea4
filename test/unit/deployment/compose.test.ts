import { existsSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { EnvSchema } from '../../../src/app/config/env-schema.ts';
import { readConfig } from '../../../src/app/config/config.ts';
import { SECRET_VARIABLES } from '../../../src/app/config/environment.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';
import { ComposeFile, filledIn, readComposeFile } from './compose-file.ts';

const TEXT = readFileSync('docker-compose.yml', 'utf8');
const compose = ComposeFile.parse(readComposeFile(TEXT));
const services = Object.entries(compose.services);
/** The processes of Lote; a job of the same image has an entry point of its own. */
const own = services.filter(([, { build, entrypoint }]) => build !== undefined && entrypoint === undefined);

/** A tag that names one version; `latest`, `16` or none at all move under one's feet. */
const PINNED = /^[\w./-]+:\d+\.\d+(\.\d+)?(-[\w.]+)?$/;
const LOOPBACK_PORT = /^127\.0\.0\.1:\d+:\d+$/;
/** The only one that the Internet may reach, when the operator says so. */
const PUBLIC = 'receiver-tls';

const OPERATOR = { INVOICING_BASE_URL: 'https://invoicing.example' };
/** For how long a secret counts is none. */
const HOW_LONG = /_GRACE$/;
/** Of the runtime below Lote. */
const OF_NODE = ['NODE_EXTRA_CA_CERTS', 'TZ'];

describe('docker-compose.yml', () => {
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
      // Without its profile it would not be there.
      const profiles = service.profiles ?? [];
      if (target?.profiles !== undefined) expect(target.profiles).toEqual(expect.arrayContaining(profiles));
      if (target?.profiles !== undefined) expect(profiles).not.toEqual([]);
    }
  });

  it.each(services)('%s mounts only volumes and secrets that are declared, and runs files that exist', (_, service) => {
    const named = (service.volumes ?? [])
      .map((mount) => mount.split(':')[0] ?? '')
      .filter((name) => !/^[./]/.test(name));

    for (const name of named) expect(Object.keys(compose.volumes)).toContain(name);
    for (const name of service.secrets ?? []) expect(Object.keys(compose.secrets)).toContain(name);
    for (const word of [...(service.entrypoint ?? []), ...(service.command ?? [])].filter((one) =>
      one.startsWith('/deploy/'),
    )) {
      expect(existsSync(word.slice(1)), word).toBe(true);
      expect(service.volumes).toContain('./deploy:/deploy:ro');
    }
  });

  it.each(services)('%s is published on loopback only, unless the operator says otherwise', (name, { ports }) => {
    for (const port of ports ?? []) expect(filledIn(port, {})).toMatch(LOOPBACK_PORT);
    if (name !== PUBLIC) for (const port of ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:/);
  });

  it('runs no process of Lote as root, and each in a network namespace of its own', () => {
    for (const [, { user, network_mode: mode }] of own) {
      expect(user).toBe('${LOTE_USER_ID:-1000}:${LOTE_GROUP_ID:-1000}');
      expect(mode).toBeUndefined();
    }
  });

  it.each(own)('%s gets only variables that Lote reads, with values that it takes', async (name, service) => {
    const secrets = await temporaryDirectory();
    const environment = Object.fromEntries(
      Object.entries(service.environment ?? {})
        .filter(([variable]) => !OF_NODE.includes(variable))
        .map(([variable, value]) => [variable, filledIn(value, OPERATOR).replace('/run/secrets', secrets)]),
    );
    await mkdir(secrets, { recursive: true });
    for (const secret of service.secrets ?? []) await writeFile(join(secrets, secret), 'sk_test_secret\n');

    // node-postgres reads the user itself.
    const known = ['PGUSER', ...Object.keys(EnvSchema.shape), ...SECRET_VARIABLES.map((secret) => `${secret}_FILE`)];
    expect(known).toEqual(expect.arrayContaining(Object.keys(environment)));
    expect(() => readConfig(environment, '/', name === 'console' ? 'nothing' : 'requests')).not.toThrow();
  });

  it.each(services)('%s gets each secret as a file, and only those that it names', (_, { environment, secrets }) => {
    const named = Object.entries(environment ?? {}).filter(
      ([name]) => /PASSWORD|PWD|API_KEY|SECRET|TOKEN/.test(name) && !HOW_LONG.test(name),
    );

    for (const [name, value] of named) {
      expect(name).toMatch(/_FILE$/);
      expect(value).toMatch(/^(\/run\/secrets\/|\$\{WEBHOOK_SECRET_FILE:-\})/);
    }
    const files = named.flatMap(([, value]) => /^\/run\/secrets\/(.+)$/.exec(value)?.[1] ?? []);
    expect(secrets ?? []).toEqual(expect.arrayContaining(files));
  });

  it('gives the console no key of the service, and only PostgreSQL and its job the password of the superuser', () => {
    const holdersOf = (secret: string): string[] =>
      services.filter(([, { secrets = [] }]) => secrets.includes(secret)).map(([name]) => name);

    expect(compose.services['console']?.secrets).toEqual(['lote-database-password', 'console-token']);
    expect(holdersOf('postgres-password')).toEqual(['postgresql', 'roles']);
    expect(holdersOf('temporal-database-password')).toEqual(['roles', 'temporal-schema', 'temporal']);
    expect(holdersOf('invoicing-api-key')).toEqual(['worker', 'receiver', 'lote']);
  });
});

describe('deploy/sandbox.env', () => {
  const lines = readFileSync('deploy/sandbox.env', 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.split('=') as [string, string]);

  it('chooses the profile of the sandbox, and sets only what the compose file asks for', () => {
    const { COMPOSE_PROFILES: profile, ...others } = Object.fromEntries(lines);

    expect(compose.services['sandbox']?.profiles).toContain(profile);
    for (const name of Object.keys(others)) expect(TEXT).toContain(`\${${name}:`);
  });
});
