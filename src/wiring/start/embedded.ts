import { openDataDir } from '../../runtime/data-dir/data-dir.ts';
import { acquireDirectoryLock } from '../../runtime/data-dir/directory-lock.ts';
import { goOnWithout } from './go-on-without.ts';
import { requireInputFolder, requireReportsFolder } from '../folders/require-folders.ts';
import type { EmbeddedOptions, Stack } from './embedded-stack.ts';
import { startedParts } from './stop-in-reverse.ts';

/**
 * Starts what is not given from outside, in one order: lock, ledger, sandbox, Temporal, receiver, worker; stops in the reverse. Null when
 * another process owns the data directory.
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<Stack | null> {
  const { config, log, notify } = options;
  const dataDir = await openDataDir(config.dataDir);
  for (const one of options.applications ?? [config])
    // oxlint-disable-next-line no-await-in-loop -- two hundred at once would be a burst
    await goOnWithout({ config: one, log }, 'the work of an application waits for its folders', async () => {
      await requireInputFolder(one);
      await requireReportsFolder(one);
    });
  const lock = await acquireDirectoryLock(dataDir.path);
  if (lock === null) return null;
  const parts = startedParts(log);
  parts.addToTheEnd('lock', () => lock.release());
  try {
    // Most commands find an owner and need none of this; to load it takes a second.
    const { startStack } = await import('./embedded-stack.ts');
    return await startStack(options, { config, dataDir, parts, notify, log }, lock);
  } catch (error) {
    await parts.stop();
    throw error;
  }
}
