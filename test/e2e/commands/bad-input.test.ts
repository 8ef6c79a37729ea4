import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, symlink } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runLote } from '../../support/lote/lote-command.ts';
import { shared } from '../../support/lifetime.ts';
import { lotePlace } from '../../support/lote/running-lote.ts';

/** What is wrong before anything is sent ends the command there: with a sentence that names it, and nothing sent. */
const CASES = [
  ['no such file', ['nowhere.csv'], ['nowhere.csv', 'there is no such file']],
  ['a directory', ['folder.csv'], ['folder.csv', 'not a regular file']],
  ['a link to nothing', ['dangling.csv'], ['dangling.csv', 'there is no such file']],
  // Opening it to read would wait for a writer for ever.
  ['a pipe', ['pipe.csv'], ['pipe.csv', 'not a regular file']],
  ['a good file and a missing one', ['good.csv', 'nowhere.csv'], ['nowhere.csv']],
] as const;

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

  async function refused(parameters: readonly string[], says: readonly string[], own = {}): Promise<void> {
    const run = await runLote(['run', '--json', ...parameters], { ...place.env, ...own });

    expect(run.code, run.stderr).toBe(64);
    for (const word of says) expect(run.stderr).toContain(word);
    expect(run.stderr).toMatch(/^(?:lote|error): /m);
    if (run.stdout !== '') expect(JSON.parse(run.stdout)).toMatchObject({ batches: [] });
    place.expectIssued(0);
  }

  it.each(CASES)('%s: exit code 64, a sentence that names it, nothing sent', async (_, files, says) => {
    await refused(
      files.map((file) => join(place.inputDir, file)),
      says,
    );
  });

  it('profiles that are no JSON: the same', async () => {
    await refused([good, '--profile', 'broken'], ['profiles/broken.json', 'expected JSON', 'nothing was read']);
    const own = { SERVICE_PROFILE: join(place.directory, 'service-broken.json') };
    await refused([good], ['service profile', 'syntax error', 'SERVICE_PROFILE'], own);
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
