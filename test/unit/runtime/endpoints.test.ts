import { readdir, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { openDataDir } from '../../../src/runtime/data-dir.ts';
import { readEndpoints, removeEndpoints, writeEndpoints, type Endpoints } from '../../../src/runtime/endpoints.ts';
import { ownIdentity } from '../../../src/runtime/process-identity.ts';
import { temporaryDirectory } from './temporary-directory.ts';

async function ownEndpoints(change: Partial<Endpoints> = {}): Promise<Endpoints> {
  return {
    ...(await ownIdentity()),
    console: null,
    receiver: 'http://127.0.0.1:8090/webhooks',
    sandbox: 'http://127.0.0.1:8092',
    temporalAddress: '127.0.0.1:7233',
    temporalNamespace: 'default',
    temporalUi: 'http://127.0.0.1:8233',
    ledgerId: 'ledger-1',
    reportsDir: '/reports',
    ...change,
  };
}

describe('the endpoints of a data directory', () => {
  it('are read as they were written', async () => {
    const dataDir = await openDataDir(await temporaryDirectory());
    const endpoints = await ownEndpoints();

    await writeEndpoints(dataDir, endpoints);

    expect(await readEndpoints(dataDir)).toEqual(endpoints);
  });

  it('are none before the first start and after a clean end', async () => {
    const dataDir = await openDataDir(await temporaryDirectory());
    expect(await readEndpoints(dataDir)).toBeNull();
    await writeEndpoints(dataDir, await ownEndpoints());

    await removeEndpoints(dataDir);

    expect(await readEndpoints(dataDir)).toBeNull();
  });

  it('are none when their owner is gone, also when its pid is used again', async () => {
    const dataDir = await openDataDir(await temporaryDirectory());

    await writeEndpoints(dataDir, await ownEndpoints({ startTime: 'earlier' }));

    expect(await readEndpoints(dataDir)).toBeNull();
  });

  it.each(['', '{"pid":', '{"pid":1}'])('are none when the file holds %j', async (content) => {
    const dataDir = await openDataDir(await temporaryDirectory());
    await writeFile(dataDir.endpoints, content);

    expect(await readEndpoints(dataDir)).toBeNull();
  });

  it('are never half written: twenty writers leave one whole file and nothing else', async () => {
    const dataDir = await openDataDir(await temporaryDirectory());
    const endpoints = await ownEndpoints();

    await Promise.all(Array.from({ length: 20 }, () => writeEndpoints(dataDir, endpoints)));

    expect(await readEndpoints(dataDir)).toEqual(endpoints);
    expect(await readdir(dataDir.path)).toEqual(['endpoints.json']);
  });
});
