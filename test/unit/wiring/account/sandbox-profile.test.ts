import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { readConfig } from '../../../../src/runtime/config/config.ts';
import { sandboxProfile } from '../../../../src/wiring/account/sandbox-profile.ts';

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'lote-sandbox-profile-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
});

async function read(text: string): Promise<string | null> {
  await writeFile(join(directory, 'spoken.json'), text);
  return sandboxProfile(readConfig({ SANDBOX_PROFILE: 'spoken.json' }, directory));
}

describe('SANDBOX_PROFILE', () => {
  it('is the text of a profile that the sandbox can speak; none is set: nothing', async () => {
    const text = '{ "merchants": { "items": "/list" }, /* ids are numbers */ "invoice": { "idPrefix": "", }, }';

    expect(await read(text)).toBe(text);
    expect(sandboxProfile(readConfig({}, directory))).toBeNull();
  });

  it.each([
    ['a key that nobody knows', '{"merchant":{}}', 'Correct the file named by SANDBOX_PROFILE'],
    [
      'an expression alone',
      '{"invoice":{"status":"jsonata:$uppercase(state)"}}',
      'Put a place for the sandbox before it, such as ["/sandbox_invoice_status", "jsonata:$uppercase(state)"].',
    ],
    [
      'a template that cannot be read back',
      '{"requests":{"createMerchant":{"body":{"who":"{legal_name}{email}","nif":"{nif}"}}}}',
      'requests.createMerchant.body holds "{legal_name}{email}"',
    ],
    [
      'places that exclude each other',
      '{"merchants":{"items":"","total":"/total"}}',
      'merchants: not all of its places can be written into one document',
    ],
    [
      'a rule that takes every creation',
      '{"answers":{"rules":[{"status":[201],"means":"later"}]}}',
      'answers.rules: a created invoice is written in a way that a rule reads as "lost".',
    ],
  ])('is refused for %s, in a sentence that says what to do', async (_, text, sentence) => {
    await expect(read(text)).rejects.toMatchObject({
      code: 'configuration-invalid',
      message: expect.stringContaining(sentence) as string,
    });
  });

  it('is refused when it names no file', () => {
    expect(() => sandboxProfile(readConfig({ SANDBOX_PROFILE: 'none.json' }, directory))).toThrow(
      'SANDBOX_PROFILE must name a readable file',
    );
  });
});
