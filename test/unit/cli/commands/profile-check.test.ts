import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../../support/files/temporary-directory.ts';
import { profileCheckCommand, profileSchemaCommand } from '../../../../src/cli/commands/profile-check.ts';
import { schemaText } from '../../../../src/service/profile/json-schema.ts';
import { printed } from '../printed.ts';

let directory: string;

beforeEach(async () => {
  directory = await temporaryDirectory();
});

async function file(text: string): Promise<string> {
  const path = join(directory, 'service.json');
  await writeFile(path, text);
  return path;
}

describe('lote profile check', () => {
  it('ends with 0 and shows what differs from the default', async () => {
    const { stdout } = printed();
    const path = await file('{"limits":{"maxConcurrency":3},"signature":{"prefix":"sha256="}}');

    expect(await profileCheckCommand({}, { file: path, json: false })).toBe(0);
    expect(stdout()).toBe(
      [
        `${path}: valid, 2 settings differ from the default`,
        '  signature.prefix       "sha256="  (default "")',
        '  limits.maxConcurrency  3          (default 64)',
        '',
      ].join('\n'),
    );
  });

  it('says so when nothing differs', async () => {
    const { stdout } = printed();

    expect(await profileCheckCommand({}, { file: await file('{}'), json: false })).toBe(0);
    expect(stdout()).toContain('valid, the same as the default');
  });

  it('ends with 64 and shows every mistake', async () => {
    const { stdout } = printed();
    const path = await file('{"limit":1,\n"webhook":{"register":"yes"}}');

    expect(await profileCheckCommand({}, { file: path, json: false })).toBe(64);
    const [head, second, first] = stdout().split('\n');
    expect(head).toBe(`${path}: 2 mistakes`);
    expect(first).toMatch(/^ {2}limit: no such key; .*did you mean "limits"\?$/u);
    expect(second).toBe('  webhook.register: expected boolean, received string');
  });

  it('prints one JSON document when asked', async () => {
    const { stdout } = printed();
    const path = await file('{"limit":1}');

    await profileCheckCommand({}, { file: path, json: true });

    expect(JSON.parse(stdout())).toMatchObject({
      valid: false,
      file: path,
      differences: [],
      mistakes: [{ path: ['limit'], suggestion: 'limits' }],
    });
  });

  it('checks the file of SERVICE_PROFILE when none is named', async () => {
    const { stdout } = printed();
    const path = await file('{"limits":{"maxConcurrency":3}}');

    expect(await profileCheckCommand({ SERVICE_PROFILE: path }, { json: true })).toBe(0);
    expect(JSON.parse(stdout())).toMatchObject({ valid: true, file: path, mistakes: [] });
  });

  it('wants a file', async () => {
    await expect(profileCheckCommand({}, { json: false })).rejects.toThrow('found neither');
    await expect(profileCheckCommand({}, { file: join(directory, 'absent.json'), json: false })).rejects.toThrow(
      'FILE must name a readable file',
    );
    await expect(profileCheckCommand({}, { file: directory, json: false })).rejects.toThrow(
      'FILE must name a readable',
    );
  });

  it('reads no more of a file than a profile may hold', async () => {
    const { stdout } = printed();
    const path = await file(`{}${' '.repeat(2_000_000)}`);

    expect(await profileCheckCommand({}, { file: path, json: false })).toBe(64);
    expect(stdout()).toContain('must be at most 256 kB long');
  });
});

describe('lote profile schema', async () => {
  it('prints the JSON Schema alone', async () => {
    const { stdout } = printed();

    expect(await profileSchemaCommand()).toBe(0);
    expect(stdout()).toBe(schemaText());
  });
});
