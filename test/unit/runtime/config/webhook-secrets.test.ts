import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createWebhookSecrets } from '../../../../src/runtime/config/webhook-secrets.ts';
import { temporaryDirectory } from '../../../support/files/temporary-directory.ts';

describe('createWebhookSecrets', () => {
  it('gives those of the environment for ever', async () => {
    const current = createWebhookSecrets({ secrets: ['s1', 's2'], secretFile: null }, { warn: () => undefined });

    expect(await current()).toEqual(['s1', 's2']);
  });

  it('reads the file at each call: a secret is added, and then the old one taken away', async () => {
    const secretFile = join(await temporaryDirectory(), 'secret');
    const current = createWebhookSecrets({ secrets: ['old'], secretFile }, { warn: () => undefined });

    const seen: (readonly string[])[] = [];
    for (const text of ['old\n', 'new, old\n', 'new']) {
      await writeFile(secretFile, text);
      seen.push(await current());
    }

    expect(seen).toEqual([['old'], ['new', 'old'], ['new']]);
  });

  it('keeps the last ones while the file is away, empty or half written, and says so once', async () => {
    const secretFile = join(await temporaryDirectory(), 'secret');
    const warnings: string[] = [];
    const current = createWebhookSecrets({ secrets: ['first'], secretFile }, { warn: (text) => warnings.push(text) });

    const away = await current();
    await writeFile(secretFile, ' \n');
    const empty = await current();
    await writeFile(secretFile, 'new,');
    const half = await current();
    await writeFile(secretFile, 'new');
    const back = await current();
    await rm(secretFile);

    expect([away, empty, half, back, await current()]).toEqual([['first'], ['first'], ['first'], ['new'], ['new']]);
    expect(warnings).toHaveLength(2);
    expect(warnings.join()).not.toContain('first');
  });
});
