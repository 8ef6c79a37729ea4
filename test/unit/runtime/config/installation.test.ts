import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readConfig } from '../../../../src/runtime/config/config.ts';
import { chooseApplication, readInstallation } from '../../../../src/runtime/config/installation.ts';

const SERVICE = { INVOICING_BASE_URL: 'https://invoicing.example' };
const FILES = ['anna', 'berta'] as const;

describe('readInstallation', () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'lote-applications-'));
  });
  afterEach(() => rm(directory, { recursive: true }));

  function read(env: Record<string, string> = SERVICE) {
    return readInstallation(env, directory);
  }

  /** What is wrong with it. */
  function mistakes(env?: Record<string, string>): string {
    try {
      read(env);
    } catch (error) {
      return error instanceof Error ? error.message : '';
    }
    throw new Error('Nothing was found wrong');
  }

  async function describeApplication(name: string, fields: Record<string, unknown> = {}): Promise<void> {
    await mkdir(join(directory, 'applications'), { recursive: true });
    await writeFile(join(directory, `${name}.key`), `sk_test_${name}\n`);
    const file = { name, apiKeyFile: join(directory, `${name}.key`), inputDir: `clients/${name}`, ...fields };
    await writeFile(join(directory, 'applications', `${name}.json`), JSON.stringify(file));
  }

  it('is what the environment says where there is no folder', () => {
    const env = { ...SERVICE, INVOICING_API_KEY: 'sk_test_a', LOTE_APPLICATION: 'office' };

    expect(read(env)).toEqual({
      common: readConfig(env, directory),
      applications: [readConfig(env, directory)],
      several: false,
    });
  });

  it('gives each application its account, folders, rate and schedule, and hides every key', async () => {
    const schedule = { at: '3:30', timezone: 'Europe/Lisbon', catchUp: '2h' };
    await writeFile(join(directory, 'hook'), 'whsec_one,whsec_two');
    await describeApplication('anna', {
      schedule,
      rate: { requestsPerSecond: 2 },
      webhookSecretFile: join(directory, 'hook'),
    });
    await describeApplication('berta', {
      baseUrl: 'https://INVOICING.example/',
      serviceProfile: 'profiles/other.json',
    });

    const { several, applications, common } = read({ ...SERVICE, WEBHOOK_URL: 'https://lote.example/webhooks' });

    expect(several).toBe(true);
    expect(applications).toMatchObject([
      {
        application: 'anna',
        isOneOfSeveral: true,
        service: { kind: 'remote', baseUrl: 'https://invoicing.example', apiKey: 'sk_test_anna' },
        webhook: { url: 'https://lote.example/webhooks/anna', secrets: ['whsec_one', 'whsec_two'] },
        inputDir: join(directory, 'clients/anna'),
        reportsDir: join(directory, 'reports/anna'),
        rate: { requestsPerSecond: 2 },
        schedule: { hour: 3, minute: 30, timezone: 'Europe/Lisbon', catchUpMs: 7_200_000 },
      },
      {
        application: 'berta',
        service: { baseUrl: 'https://invoicing.example', apiKey: 'sk_test_berta' },
        serviceProfilePath: join(directory, 'profiles/other.json'),
        reportsDir: join(directory, 'reports/berta'),
        rate: null,
        schedule: null,
      },
    ]);
    for (const { secrets } of [common, ...applications])
      expect(secrets).toEqual(expect.arrayContaining(['sk_test_anna', 'sk_test_berta', 'whsec_one', 'whsec_two']));
  });

  const MISTAKES: readonly (readonly [string, Record<string, unknown>, string])[] = [
    ['a name that no folder may have', { name: 'An na' }, 'berta.json: name must be 1 to 40 of a-z'],
    ['a name with the word of batch ids', { name: 'a-batch-b' }, 'berta.json: name must not hold the word "batch"'],
    ['no key', { apiKeyFile: undefined }, 'berta.json: apiKeyFile is invalid: expected string'],
    [
      'a key that is not there',
      { apiKeyFile: '/none' },
      'berta.json: apiKeyFile must name a readable file; /none: it could not be read (ENOENT)',
    ],
    ['a folder for a key', { apiKeyFile: tmpdir() }, 'it is not a regular file'],
    [
      'a key inline',
      { apiKey: 'sk_live_never_shown' },
      'berta.json: knows no field "apiKey". A secret never stands here',
    ],
    ['no input folder', { inputDir: undefined }, 'berta.json: inputDir is invalid'],
    [
      'a time that is none',
      { schedule: { at: '24:00', timezone: 'UTC' } },
      'berta.json: schedule.at must be a time of day',
    ],
    [
      'a zone that is none',
      { schedule: { at: '02:00', timezone: 'Lisboa' } },
      'berta.json: schedule.timezone must be an IANA time zone',
    ],
    [
      'an offset for a zone',
      { schedule: { at: '02:00', timezone: '+01:00' } },
      'berta.json: schedule.timezone must be an IANA time zone',
    ],
    ['a rate of nothing', { rate: { requestsPerSecond: 0 } }, 'berta.json: rate.requestsPerSecond'],
    [
      'an address that is none',
      { baseUrl: 'invoicing.example' },
      'berta.json: baseUrl must be an http or https address',
    ],
    ["another one's name", { name: 'anna' }, 'berta.json: name must be one that no other file has; "anna" is that of'],
    [
      "another one's input folder",
      { inputDir: 'clients/anna' },
      'berta.json: inputDir must be a folder of its own; clients/anna is, holds or lies in that of',
    ],
    [
      "a folder inside another one's",
      { inputDir: 'clients/anna/2026' },
      'berta.json: inputDir must be a folder of its own',
    ],
    ["a folder around another one's", { inputDir: 'clients' }, 'inputDir must be a folder of its own; clients'],
    ['the reports folder as input', { inputDir: 'reports/berta' }, 'where Lote writes'],
  ];

  it.each(MISTAKES)('names file and place of %s, and shows no key', async (_, fields, said) => {
    await describeApplication('anna');
    await describeApplication('berta', fields);

    const message = mistakes();

    expect(message).toContain(said);
    expect(message).not.toMatch(/sk_(?:test|live)_/u);
  });

  it("sees through a link to another one's input folder", async () => {
    for (const name of FILES) await describeApplication(name);
    await mkdir(join(directory, 'clients/anna'), { recursive: true });
    await symlink(join(directory, 'clients/anna'), join(directory, 'clients/berta'));

    expect(mistakes()).toContain('berta.json: inputDir must be a folder of its own');
  });

  it('refuses one key at one address for two applications: what one issued the other would issue again', async () => {
    await describeApplication('anna');
    await describeApplication('berta', { apiKeyFile: join(directory, 'anna.key') });

    expect(mistakes()).toContain('berta.json: apiKeyFile must name a key of its own');
  });

  it('refuses a second service: one of its ids may be that of a document of the first', async () => {
    await describeApplication('anna');
    await describeApplication('berta', { baseUrl: 'https://other.example' });

    expect(mistakes()).toMatch(
      /berta\.json: baseUrl must be the same for all applications[^]*https:\/\/other\.example, and https:\/\/invoicing\.example for .*anna\.json[^]*an installation of its own/u,
    );
  });

  it('puts the name into the path of a webhook address that has a query', async () => {
    await describeApplication('anna');

    const { applications } = read({ ...SERVICE, WEBHOOK_URL: 'https://lote.example/webhooks/?route=a/b' });

    expect(applications[0].webhook.url).toBe('https://lote.example/webhooks/anna?route=a/b');
  });

  it('spells a time zone as Temporal takes it', async () => {
    await describeApplication('anna', { schedule: { at: '02:00', timezone: 'europe/lisbon' } });
    await describeApplication('berta', { schedule: { at: '02:00', timezone: 'utc' } });

    expect(read().applications.map(({ schedule }) => schedule?.timezone)).toEqual(['Europe/Lisbon', 'UTC']);
  });

  it('names every mistake of every file at once', async () => {
    await describeApplication('anna', { inputDir: 7 });
    await describeApplication('berta', { rate: { perHour: 1 } });

    expect(mistakes()).toMatch(/anna\.json: inputDir[^]*berta\.json: rate knows no field "perHour"/u);
  });

  it('names line and column where a file is no JSON, without its words', async () => {
    await describeApplication('anna');
    await writeFile(join(directory, 'applications/anna.json'), '{\n  "name": "anna",\n  "key": sk_live_never_shown\n}');

    const message = mistakes();

    expect(message).toContain('anna.json: must hold one JSON object; it breaks off at line 3, column 10');
    expect(message).not.toContain('sk_live');
  });

  it('reads no file without end', async () => {
    await describeApplication('anna', { note: 'x'.repeat(70_000) });

    expect(mistakes()).toContain('must be a readable file of at most 65536 bytes; it is larger');
  });

  it('takes an empty folder for a mount that is missing, and not for one application', async () => {
    await mkdir(join(directory, 'applications'));

    expect(mistakes()).toContain('must hold 1 to 1000 files whose names end with .json');
    expect(mistakes({ LOTE_APPLICATIONS_DIR: 'elsewhere' })).toContain('could not be read (ENOENT)');
  });

  it.each(['INVOICING_API_KEY', 'WEBHOOK_SECRET', 'SERVICE_PROFILE', 'LOTE_INPUT_DIR', 'LOTE_APPLICATION'])(
    'refuses %s, which would be for all of them',
    async (variable) => {
      await describeApplication('anna');

      expect(mistakes({ ...SERVICE, [variable]: '1' })).toContain(`${variable} must not be set where`);
    },
  );

  it('never falls back to the sandbox: an application without an address is refused', async () => {
    await describeApplication('anna');

    expect(mistakes({})).toContain('anna.json: baseUrl must be set, or INVOICING_BASE_URL for all applications');
  });

  it('gives no key to a process that asks nothing of the service, and needs none of their files', async () => {
    for (const name of FILES) await describeApplication(name, { apiKeyFile: '/none', webhookSecretFile: '/none' });

    const { applications, common } = readInstallation({}, directory, 'nothing');

    expect(applications.map(({ service }) => service.kind)).toEqual(['sandbox', 'sandbox']);
    expect(common.secrets).toEqual([]);
    expect(mistakes({})).toContain('must name a readable file');
  });

  it('is refused by what must not be done with the key of one client among several', async () => {
    for (const name of FILES) await describeApplication(name);

    expect(() => readConfig(SERVICE, directory)).toThrow(
      /works with the account of the environment alone[^]*describes 2/u,
    );
  });

  it('asks which application a command is for, naming those that there are', async () => {
    for (const name of FILES) await describeApplication(name);
    const installation = read();

    expect(() => chooseApplication(installation, null)).toThrow('there are several (anna, berta)');
    expect(() => chooseApplication(installation, 'carla')).toThrow(
      '--application must be one of anna, berta, found "carla"',
    );
    expect(chooseApplication(installation, 'berta').application).toBe('berta');
  });

  it('needs no choice where there is one, and knows its name', () => {
    const installation = read({});

    expect(chooseApplication(installation, null).application).toBe('default');
    expect(chooseApplication(installation, 'default').application).toBe('default');
    expect(() => chooseApplication(installation, 'anna')).toThrow('--application must be one of default');
  });
});
