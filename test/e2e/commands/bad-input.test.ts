import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, symlink } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runLote } from '../../support/lote/lote-command.ts';
import { shared } from '../../support/lifetime.ts';
import { lotePlace } from '../../support/lote/running-lote.ts';

interface Refusal {
  readonly batches: readonly unknown[];
  readonly error: { readonly code: string; readonly message: string };
}

interface Case {
  readonly name: string;
  /** Names of the input directory. */
  readonly files: readonly string[];
  readonly parameters?: readonly string[];
  /** A file of the place. */
  readonly serviceProfile?: string;
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
    name: 'a service profile that is no JSON',
    files: ['good.csv'],
    serviceProfile: 'service-broken.json',
    code: 64,
    says: ['service profile', 'syntax error', 'SERVICE_PROFILE'],
  },
];

describe('lote run with something wrong', () => {
  const listener = createServer();
  const place = shared(() => lotePlace());
  let good: string;

  beforeAll(async () => {
    await once(listener.listen(0, '127.0.0.1'), 'listening');
    good = await place.file('good.csv', { invoices: 3 });
    await mkdir(join(place.inputDir, 'folder.csv'));
    await symlink('nowhere', join(place.inputDir, 'dangling.csv'));
    execFileSync('mkfifo', [join(place.inputDir, 'pipe.csv')]);
    await place.file('profiles/broken.json', '{"columns": ');
    await place.file('../service-broken.json', '{"limits": ');
  });

  afterAll(() => void listener.close());

  it.each(CASES)('$name: exit code $code, a sentence that names it, nothing sent', async (given) => {
    const files = given.files.map((file) => join(place.inputDir, file));
    const profile = given.serviceProfile;
    const own = profile === undefined ? {} : { SERVICE_PROFILE: join(place.directory, profile) };

    const run = await runLote(['run', ...files, '--json', ...(given.parameters ?? [])], { ...place.env, ...own });

    expect(run.code, run.stderr).toBe(given.code);
    for (const word of given.says) expect(run.stderr).toContain(word);
    expect(run.stderr).toMatch(/^(?:lote|error): /m);
    if (run.stdout !== '') expect((JSON.parse(run.stdout) as Refusal).batches).toEqual([]);
    place.expectIssued(0);
  });

  it.each(['RECEIVER_PORT', 'CONSOLE_PORT'])('a %s that is taken: exit code 3, nothing sent', async (variable) => {
    const taken = String((listener.address() as AddressInfo).port);

    const run = await runLote(['run', good, '--json'], { ...place.env, [variable]: taken });

    expect(run.code, run.stderr).toBe(3);
    const message = expect.stringContaining(`Set ${variable} to another port`) as string;
    expect(JSON.parse(run.stdout)).toMatchObject({ batches: [], error: { code: 'port-taken', message } });
    place.expectIssued(0);
  });

  it('has left every file where it was, and the next good run starts from there', async () => {
    const before = await readdir(place.inputDir);

    const run = await place.run('run', good, '--json');

    expect(run.code, run.stderr).toBe(0);
    place.expectIssued(3);
    expect(await readdir(place.inputDir)).toEqual(before);
  });
});
