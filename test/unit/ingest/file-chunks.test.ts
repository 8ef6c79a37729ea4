import { createHash } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import { hashFile } from '../../../src/ingest/file-chunks.ts';
import { temporaryFile, removeTemporaryFiles } from './ingested.ts';

afterAll(removeTemporaryFiles);

describe('hashFile', () => {
  it.each([0, 1, 1_000_000])('gives the SHA-256 of %i bytes', async (length) => {
    const bytes = Buffer.alloc(length, 'ã');

    expect(await hashFile(temporaryFile(bytes))).toBe(createHash('sha256').update(bytes).digest('hex'));
  });

  it.each(['/', '/nowhere/at/all'])('fails clearly on %s', async (path) => {
    await expect(hashFile(path)).rejects.toMatchObject({
      code: 'file-unreadable',
      message: expect.stringContaining(path) as unknown,
    });
  });

  it('does not wait at a device or a pipe for bytes that may never come', async () => {
    await expect(hashFile('/dev/zero')).rejects.toMatchObject({
      code: 'file-unreadable',
      message: expect.stringContaining('not a regular file') as unknown,
    });
  });
});
