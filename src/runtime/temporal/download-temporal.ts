import { mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { SECRET_VARIABLES } from '../config/env-secret-files.ts';

/**
 * The SDK's own download of a Temporal CLI, moved to `target`; false when it cannot be had (offline that shows in 60 ms).
 * The SDK downloads only to start a server at once, so one is started on a free port and ended.
 */
export async function downloadTemporal(target: string, version: string): Promise<boolean> {
  // Beside the target: a rename within one file system shows the binary whole or not at all.
  const directory = await mkdtemp(`${target}-download-`);
  try {
    await withoutSecrets(async () => {
      const environment = await TestWorkflowEnvironment.createLocal({
        server: { executable: { type: 'cached-download', downloadDir: directory, version } },
      });
      await environment.teardown();
    });
    const [binary] = await readdir(directory);
    if (binary === undefined) return false;
    await rename(join(directory, binary), target);
    return true;
  } catch {
    return false;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** The SDK gives the server that it starts the whole environment of this process. */
async function withoutSecrets(start: () => Promise<void>): Promise<void> {
  const hidden = SECRET_VARIABLES.map((name) => [name, process.env[name]] as const);
  for (const [name] of hidden) delete process.env[name];
  try {
    await start();
  } finally {
    for (const [name, value] of hidden) if (value !== undefined) process.env[name] = value;
  }
}
