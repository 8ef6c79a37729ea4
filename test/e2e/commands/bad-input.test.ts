import { execFileSync } from 'node:child_process';
import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Sandbox } from '../../../src/sandbox/sandbox.ts';
import { writeInvoiceFile } from '../../support/files/invoice-file.ts';
import { COMMAND, newPlace, runLote, startCommand, type Place } from '../../support/lote/lote-command.ts';
import { independentSandbox } from '../../support/servers/sandbox-books.ts';
import { sandboxEnv } from '../../support/servers/sandbox-env.ts';
import { sharedTemporal } from '../../support/servers/shared-temporal.ts';

interface Refusal {
  readonly batches: readonly unknown[];
  readonly error: { readonly code: string; readonly message: string };
}

interface Case {
  readonly name: string;
  /** Names of the input directory. */
  readonly files: readonly string[];
  readonly parameters?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly code: number;
  readonly says: readonly string[];
}

/** What is wrong before anything is sent ends the command there: with a sentence that names it, and nothing sent. */
const CASES: readonly Case[] = [
  { name: 'no such file', files: ['nowhere.csv'], code: 64, says: ['nowhere.csv', 'there is no such file'] },
  { name: 'a directory', files: ['folder.csv'], code: 64, says: ['folder.csv', 'not a regular file'] },
  { name: 'a link to nothing', files: ['dangling.csv'], code: 64, says: ['dangling.csv', 'there is no such file'] },
  // Opening it to read would wait for a writer for ever.
  { name: 'a pipe', files: ['pipe.csv'], code: 64, says: ['pipe.csv', 'not a regular file'] },
  { name: 'a good file and a missing one', files: ['good.csv', 'nowhere.csv'], code: 64, says: ['nowhere.csv'] },
  {
    name: 'a mapping profile that is no JSON',
    files: ['good.csv'],
    parameters: ['--profile', 'broken'],
    code: 64,
    says: ['profiles/broken.json', 'expected JSON', 'nothing was read'],
  },
  {
    name: 'a mapping profile that is not there',
    files: ['good.csv'],
    parameters: ['--profile', 'absent'],
    code: 64,
    says: ['profiles/absent.json', 'there are broken'],
  },
  {
    name: 'a service profile that is no JSON',
    files: ['good.csv'],
    env: { SERVICE_PROFILE: 'service-broken.json' },
    code: 64,
    says: ['service profile', 'expected JSON', 'SERVICE_PROFILE'],
  },
  {
    name: 'a service profile with a wrong value and an unknown name',
    files: ['good.csv'],
    env: { SERVICE_PROFILE: 'service-wrong.json' },
    code: 64,
    says: [
      'limits.maxConcurrency (line 1, column ',
      'limit (line 1, column ',
      'did you mean "limits"?',
      'SERVICE_PROFILE',
    ],
  },
  {
    name: 'a service profile that is not there',
    files: ['good.csv'],
    env: { SERVICE_PROFILE: 'service-absent.json' },
    code: 64,
    says: ['SERVICE_PROFILE must name a readable file'],
  },
  {
    name: 'a port that is no port',
    files: ['good.csv'],
    env: { RECEIVER_PORT: '99999' },
    code: 64,
    says: ['RECEIVER_PORT'],
  },
  {
    name: 'a time that is no time',
    files: ['good.csv'],
    env: { LOTE_SETTLE_TIMEOUT: 'soon' },
    code: 64,
    says: ['LOTE_SETTLE_TIMEOUT'],
  },
  {
    name: 'control totals that are no totals',
    files: ['good.csv'],
    parameters: ['--expect-net', 'EUR:12'],
    code: 64,
    says: ['--expect-net', 'EUR=15321.40'],
  },
];

describe('lote run with something wrong', () => {
  let place: Place;
  let sandbox: Sandbox;
  let listener: Server;
  let takenPort: number;
  let env: Readonly<Record<string, string>>;

  beforeAll(async () => {
    place = await newPlace();
    sandbox = await independentSandbox();
    listener = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => listener.once('listening', resolve));
    takenPort = (listener.address() as AddressInfo).port;
    env = { ...(await sandboxEnv(place, sandbox)), ...sharedTemporal() };
    const { inputDir, directory } = place;
    await writeInvoiceFile(join(inputDir, 'good.csv'), { invoices: 3 });
    await mkdir(join(inputDir, 'folder.csv'));
    await symlink('nowhere', join(inputDir, 'dangling.csv'));
    execFileSync('mkfifo', [join(inputDir, 'pipe.csv')]);
    await mkdir(join(inputDir, 'profiles'));
    await writeFile(join(inputDir, 'profiles', 'broken.json'), '{"columns": ');
    await writeFile(join(directory, 'service-broken.json'), '{"limits": ');
    await writeFile(join(directory, 'service-wrong.json'), '{"limits": {"maxConcurrency": "many"}, "limit": 1}');
  });

  afterAll(async () => {
    listener.close();
    await sandbox.close();
    await place.remove();
  });

  it.each(CASES)('$name: exit code $code, a sentence that names it, nothing sent', async (given) => {
    const files = given.files.map((file) => join(place.inputDir, file));
    const profile = given.env?.['SERVICE_PROFILE'];
    const own = {
      ...given.env,
      ...(profile === undefined ? {} : { SERVICE_PROFILE: join(place.directory, profile) }),
    };

    const run = await runLote(['run', ...files, '--json', ...(given.parameters ?? [])], { ...env, ...own });

    expect(run.code, run.stderr).toBe(given.code);
    for (const word of given.says) expect(run.stderr).toContain(word);
    expect(run.stderr).toMatch(/^(?:lote|error): /m);
    if (run.stdout !== '') expect((JSON.parse(run.stdout) as Refusal).batches).toEqual([]);
    expect(sandbox.books().totals.invoices).toBe(0);
  });

  it.each(['RECEIVER_PORT', 'CONSOLE_PORT'])('a %s that is taken: exit code 3, nothing sent', async (variable) => {
    const file = join(place.inputDir, 'good.csv');

    const run = await runLote(['run', file, '--json'], { ...env, [variable]: String(takenPort) });

    expect(run.code, run.stderr).toBe(3);
    const { batches, error } = JSON.parse(run.stdout) as Refusal;
    expect(batches).toEqual([]);
    expect(error.code).toBe('port-taken');
    expect(error.message).toContain(`set ${variable} to a free port`);
    expect(sandbox.books().totals.invoices).toBe(0);
  });

  it.skipIf(process.platform !== 'linux')('a limit of few open files: exit code 64, nothing sent', async () => {
    const command = 'ulimit -n 256 && exec "$0" "$@"';
    const good = join(place.inputDir, 'good.csv');

    const run = await startCommand(['sh', '-c', command, process.execPath, COMMAND, 'run', good, '--json'], {
      env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...env },
    }).end;

    expect(run.code, run.stderr).toBe(64);
    expect((JSON.parse(run.stdout) as Refusal).error.message).toContain('found a limit of 256');
    expect(sandbox.books().totals.invoices).toBe(0);
  });

  it('has left every file where it was, and the next good run starts from there', async () => {
    const before = await readdir(place.inputDir);

    const run = await runLote(['run', join(place.inputDir, 'good.csv'), '--json'], env);

    expect(run.code, run.stderr).toBe(0);
    expect(sandbox.books().totals.invoices).toBe(3);
    expect(sandbox.books().duplicates).toEqual([]);
    expect(await readdir(place.inputDir)).toEqual(before);
  });
});
