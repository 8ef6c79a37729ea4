import { join } from 'node:path';
import type { Books } from '../../../src/sandbox/books.ts';
import { startSandbox } from '../../../src/sandbox/sandbox.ts';
import { fileStore } from '../../../src/sandbox/file-store.ts';
import { SANDBOX_KEY } from '../servers/service-front.ts';

/** Reads the books that an ended sandbox process left in its data directory. */
export async function leftBooks(dataDir: string): Promise<Books> {
  const store = fileStore({ directory: join(dataDir, 'sandbox') });
  const sandbox = await startSandbox({ port: 0, store, apiKeys: [SANDBOX_KEY] });
  try {
    return sandbox.books();
  } finally {
    await sandbox.close();
  }
}
