import { open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryDirectory } from '../../../support/files/temporary-directory.ts';
import { createFileMapper } from '../../../../src/app/console/file-actions.ts';
import { DEFAULT_PROFILE } from '../../../../src/service/profile/profile.ts';

const CHOICES = { meanings: new Map(), constants: {}, taxCodes: new Map() };

it('checks of the console take turns, also after one that failed, and are of no file that is larger than an upload', async () => {
  const inputDir = await temporaryDirectory();
  await writeFile(join(inputDir, 'small.csv'), 'a,b\n1,2\n');
  const large = await open(join(inputDir, 'large.csv'), 'w');
  await large.truncate(100 * 1024 * 1024 + 1);
  await large.close();
  const begun: (() => void)[] = [];
  const ledger = { noteActions: async () => undefined };
  const folders = { require: () => new Promise<void>((resolve) => void begun.push(resolve)) } as never;
  const mapper = createFileMapper({ config: { inputDir }, folders, profile: DEFAULT_PROFILE, ledger });

  const [first, second] = [mapper.view('large.csv', CHOICES), mapper.view('small.csv', CHOICES)];

  await expect.poll(() => begun.length).toBe(1);
  begun[0]?.();
  await expect(first).rejects.toMatchObject({ code: 'usage' });
  await expect.poll(() => begun.length).toBe(2);
  begun[1]?.();
  expect(await second).toMatchObject({ headerRow: 1 });
});
