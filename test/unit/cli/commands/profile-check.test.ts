import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../../support/files/temporary-directory.ts';
import { profileCheckCommand, profileSchemaCommand } from '../../../../src/cli/commands/profile-check.ts';
import { schemaText } from '../../../../src/service/profile/json-schema.ts';
import { printed } from '../printed.ts';

async function file(text: string): Promise<string> {
  const path = join(await temporaryDirectory(), 'service.json');
  await writeFile(path, text);
  return path;
}

/** Exit code, output, and the path of a file with this text. */
async function check(text: string, json = false) {
  const { stdout } = printed();
  const path = await file(text);
  const code = await profileCheckCommand({}, { file: path, json });
  return { code, path, stdout: stdout() };
}

describe('lote profile check', () => {
  it('ends with 0 and shows what differs from the default', async () => {
    const { code, path, stdout } = await check('{"limits":{"maxConcurrency":3},"signature":{"prefix":"sha256="}}');

    expect(code).toBe(0);
    expect(stdout).toBe(
      [
        `${path}: valid, 2 settings differ from the default`,
        '  signature.prefix       "sha256="  (default "")',
        '  limits.maxConcurrency  3          (default 64)',
        '',
      ].join('\n'),
    );
    const same = await check('{}');
    expect(same.stdout).toContain('valid, the same as the default');
  });

  it('ends with 64 and shows every mistake, and reads no more of a file than a profile may hold', async () => {
    const { code, path, stdout } = await check('{"limit":1,\n"webhook":{"register":"yes"}}');
    const long = await check(`{}${' '.repeat(2_000_000)}`);

    expect([code, long.code]).toEqual([64, 64]);
    const [head, second, first] = stdout.split('\n');
    expect(head).toBe(`${path}: 2 mistakes`);
    expect(first).toMatch(/^ {2}limit: no such key; .*did you mean "limits"\?$/u);
    expect(second).toBe('  webhook.register: expected boolean, received string');
    expect(long.stdout).toContain('must be at most 256 kB long');
  });

  it('prints one JSON document when asked, also of the file of SERVICE_PROFILE', async () => {
    const { path, stdout } = await check('{"limit":1}', true);
    const right = await file('{"limits":{"maxConcurrency":3}}');
    const named = printed();

    expect(await profileCheckCommand({ SERVICE_PROFILE: right }, { json: true })).toBe(0);

    const mistakes = [{ path: ['limit'], suggestion: 'limits' }];
    expect(JSON.parse(stdout)).toMatchObject({ valid: false, file: path, differences: [], mistakes });
    expect(JSON.parse(named.stdout())).toMatchObject({ valid: true, file: right, mistakes: [] });
  });

  it('wants a file', async () => {
    const directory = await temporaryDirectory();
    await expect(profileCheckCommand({}, { json: false })).rejects.toThrow('found neither');
    for (const path of [join(directory, 'absent.json'), directory])
      await expect(profileCheckCommand({}, { file: path, json: false })).rejects.toThrow(
        'FILE must name a readable file',
      );
  });
});

it('lote profile schema prints the JSON Schema alone', async () => {
  const { stdout } = printed();

  expect(await profileSchemaCommand()).toBe(0);
  expect(stdout()).toBe(schemaText());
});
