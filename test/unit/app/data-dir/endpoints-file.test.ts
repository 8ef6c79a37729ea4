import { readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openDataDir } from '../../../../src/app/data-dir/data-dir.ts';
import { acquireDirectoryLock } from '../../../../src/app/data-dir/directory-lock.ts';
import {
  besideOwner,
  ownerAt,
  readConsoleToken,
  readEndpoints,
  writeConsoleToken,
  writeEndpoints,
} from '../../../../src/app/data-dir/endpoints-file.ts';
import { endpointsOf } from '../operator/owner-at.ts';
import { temporaryDirectory } from '../../../support/files/temporary-directory.ts';

/** A data directory that this test owns. */
async function ownedDataDir() {
  const dataDir = await openDataDir(await temporaryDirectory());
  const lock = await acquireDirectoryLock(dataDir.path);
  onTestFinished(() => lock?.release());
  return { dataDir, owner: lock?.owner ?? '', release: async () => lock?.release() };
}

describe('the endpoints of a data directory', () => {
  it('give a command the task queue of the owner', () => {
    const settings = { taskQueue: 'lote', application: 'default' };

    expect(besideOwner(settings, endpointsOf('owner'))).toEqual({ taskQueue: 'lote-office', application: 'default' });
    expect(besideOwner(settings, null)).toEqual(settings);
  });

  it('count for a command that names no Temporal server, or that of the owner, and for none that names another', () => {
    const owner = endpointsOf('owner');

    const found = (address: string | null, namespace: string, of: typeof owner | null = owner) =>
      ownerAt({ address, namespace }, of);
    for (const one of [found(null, 'billing'), found('127.0.0.1:7233', 'default')]) expect(one).toBe(owner);
    expect(found('127.0.0.1:7233', 'billing')).toBeNull();
    for (const of of [owner, null]) expect(found('temporal.example:7233', 'default', of)).toBeNull();
  });

  it('are none when the directory has no owner, also while the process that wrote them lives, and when the file is damaged', async () => {
    const { dataDir, owner, release } = await ownedDataDir();
    for (const content of ['', '{"pid":', '{"pid":1}']) {
      await writeFile(dataDir.endpoints, content);
      expect(await readEndpoints(dataDir), content).toBeNull();
    }
    await writeEndpoints(dataDir, endpointsOf(owner));

    await release();

    expect(await readEndpoints(dataDir)).toBeNull();
  });

  it('are read as they were written, and never half written: twenty writers leave one whole file and nothing else', async () => {
    const { dataDir, owner } = await ownedDataDir();
    const endpoints = endpointsOf(owner);

    await Promise.all(Array.from({ length: 20 }, () => writeEndpoints(dataDir, endpoints)));

    expect(await readEndpoints(dataDir)).toEqual(endpoints);
    expect(await readdir(dataDir.path)).toEqual(['endpoints.json', 'lote.lock']);
  });
});

describe('the console token of a data directory', () => {
  it('is the one that was set or a new one for each owner, and replaces a file that others could read', async () => {
    const dataDir = { path: await temporaryDirectory() };
    const path = join(dataDir.path, 'console-token');
    await writeFile(path, 'old', { mode: 0o644 });

    const written = [];
    for (const given of ['chosen', null, null]) {
      written.push(await writeConsoleToken(dataDir, given));
      expect(await readConsoleToken(dataDir)).toBe(written.at(-1));
      expect((await stat(path)).mode & 0o777).toBe(0o600);
    }

    expect(new Set(written).size).toBe(3);
    expect(written[0]).toBe('chosen');
    expect(Buffer.from(written[1] ?? '', 'base64url')).toHaveLength(32);
    expect(await readdir(dataDir.path)).toEqual(['console-token']);
  });
});
