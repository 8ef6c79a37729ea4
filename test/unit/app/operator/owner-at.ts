import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { temporaryDirectory } from '../../../support/files/temporary-directory.ts';
import { type Endpoints, writeConsoleToken, writeEndpoints } from '../../../../src/app/data-dir/endpoints-file.ts';
import { openDataDir, type DataDir } from '../../../../src/app/data-dir/data-dir.ts';
import { acquireDirectoryLock } from '../../../../src/app/data-dir/directory-lock.ts';
import { findOwner, type OwnerApi } from '../../../../src/app/operator/owner-api.ts';

/** Gone when the test ends. */
export async function emptyDataDir(): Promise<DataDir> {
  return openDataDir(join(await temporaryDirectory(), 'data'));
}

/** What an owner with this lock publishes. */
export function endpointsOf(owner: string, console: string | null = null): Endpoints {
  return {
    ...{ owner, pid: process.pid, console, receiver: null, sandbox: null, temporalUi: null },
    ...{ temporalAddress: '127.0.0.1:7233', temporalNamespace: 'default', taskQueue: 'lote-office' },
    ...{ ledgerId: 'ledger-1', reportsDir: '/r' },
  };
}

/** The owner that is found in a data directory whose lock is held, and which says that its console is there. */
export async function ownerAt(
  console: string | null,
  { token = true }: { token?: boolean } = {},
): Promise<OwnerApi | null> {
  const dataDir = await emptyDataDir();
  const lock = await acquireDirectoryLock(dataDir.path);
  onTestFinished(() => lock?.release());
  await writeEndpoints(dataDir, endpointsOf(lock?.owner ?? '', console));
  if (token) await writeConsoleToken(dataDir, 'the-token');
  return findOwner(dataDir);
}
