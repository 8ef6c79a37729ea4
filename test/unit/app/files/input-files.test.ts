import { once } from 'node:events';
import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { basename, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { memoryRowStore } from '../../../../src/ingest/row-stores.ts';
import { temporaryDirectory } from '../../../support/files/temporary-directory.ts';
import { bringIn, createFileReader, namedFiles, resolveInput } from '../../../../src/app/files/input-files.ts';

const TABLE =
  'invoice_ref,merchant_nif,customer_name,currency,description,quantity,unit_price,tax_code\nF1,501964843,Ana,EUR,Pão,1,2.50,23\n';

let directory: string;
let inputDir: string;

beforeEach(async () => {
  directory = await temporaryDirectory();
  inputDir = join(directory, 'input');
  await mkdir(join(inputDir, 'profiles'), { recursive: true });
  await writeFile(join(directory, 'secret.csv'), TABLE);
  await writeFile(join(inputDir, 'erp-1.csv'), TABLE);
});

function read(file: string, options: { profile?: string } = {}) {
  const reader = createFileReader({ inputDir, dataDir: join(directory, 'data') });
  const signal = new AbortController().signal;
  return resolveInput(inputDir, file).then((path) => reader.read({ path, store: memoryRowStore(), options, signal }));
}

describe('a file from elsewhere', () => {
  it('is brought in whole by two who ask for it at once', async () => {
    const file = join(directory, 'secret.csv');
    await writeFile(file, TABLE.repeat(200_000));

    const names = await Promise.all([bringIn(inputDir, file), bringIn(inputDir, file), bringIn(inputDir, file)]);

    expect(new Set(names).size).toBe(1);
    expect(await readdir(join(inputDir, names[0] ?? '', '..'))).toEqual(['secret.csv']);
  });

  it('has a name as long as the file system takes', async () => {
    const file = join(directory, `${'f'.repeat(251)}.csv`);
    await writeFile(file, TABLE);

    const name = await bringIn(inputDir, file);

    expect(await readdir(join(inputDir, name, '..'))).toEqual([basename(file)]);
  });
});

describe('a name of the input directory', () => {
  it('that is no file in it is refused', async () => {
    const away = [
      '../secret.csv',
      'a/../../secret.csv',
      '/etc/passwd',
      '..',
      '.',
      '',
      'nowhere.csv',
      'a\0b',
      'profiles',
    ];
    for (const name of away)
      await expect(resolveInput(inputDir, name), name).rejects.toMatchObject({ code: 'file-unreadable' });
  });

  it('that is a link out of it is refused, also through a linked directory', async () => {
    await symlink(join(directory, 'secret.csv'), join(inputDir, 'link.csv'));
    await symlink(directory, join(inputDir, 'out'));

    for (const name of ['link.csv', 'out/secret.csv'])
      await expect(resolveInput(inputDir, name)).rejects.toThrow(/leads out of the input directory/);
  });

  it('that is a socket is refused, and not waited for', async () => {
    const server = createServer().listen(join(inputDir, 'socket.csv'));
    await once(server, 'listening');

    await expect(resolveInput(inputDir, 'socket.csv')).rejects.toThrow(/not a regular file/);
    server.close();
  });

  it('that is odd is read', async () => {
    const long = `${'x'.repeat(200)}.csv`;
    for (const name of ['with space.csv', '-rf.csv', 'line\nend.csv', 'é😀.csv', '__proto__', long, 'quo\'te".csv']) {
      await writeFile(join(inputDir, name), TABLE);
      expect(await read(name), name).toMatchObject({ ok: true, rows: 1 });
    }
  });
});

describe('a file with a profile', () => {
  const PROFILE = JSON.stringify({ taxCodes: { '23': 'IVA_23' } });

  it('is read by the one its name starts with, and the proof and a finding say so', async () => {
    await writeFile(join(inputDir, 'profiles', 'erp.json'), PROFILE);

    const result = await read('erp-1.csv');

    expect(result).toMatchObject({ ok: true, conversion: { taxCodes: { '23': 'IVA_23' } } });
    expect(result.proof['profile']).toEqual({
      name: 'erp',
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      how: 'file-name',
    });
    expect(result.findings).toContainEqual(expect.objectContaining({ code: 'profile-used', severity: 'info' }));
  });

  it.each([
    ['that is not there', {}, { profile: 'nope' }, /profiles\/nope\.json/],
    ['that is wrong', { 'erp.json': '{"decimal":";"}' }, {}, /profiles\/erp\.json: decimal/],
  ])('%s is refused with the reason as a finding: the morning has a report', async (_, profiles, options, words) => {
    for (const [name, text] of Object.entries(profiles)) await writeFile(join(inputDir, 'profiles', name), text);

    const result = await read('erp-1.csv', options);

    expect(result).toMatchObject({ ok: false, findings: [{ code: 'declaration-wrong', severity: 'error' }] });
    expect(result.findings[0]?.message).toMatch(words);
  });
});

describe('a file that is named at a prompt', () => {
  it('is what the shell sees, else the one in the input directory, else as it was named', async () => {
    // Tests run in the folder of the project.
    await writeFile(join(inputDir, 'package.json'), '');
    const named = ['package.json', 'april.csv', '../secret.csv', '/nowhere/march.csv'];

    expect(await namedFiles(inputDir, named)).toEqual(named);
    expect(await namedFiles(inputDir, ['erp-1.csv'])).toEqual([join(inputDir, 'erp-1.csv')]);
  });
});
