import { closeSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { cacheDirectory } from '../../file-system/cache-directory.ts';
import { choosePort, type PortWish } from '../process/free-port.ts';
import { openLockFile } from '../data-dir/lock-file.ts';

/** A port that no other Lote of this user chooses, until it is released or this process ends. */
export interface HeldPort {
  readonly port: number;
  release(): void;
}

/**
 * A free port that stays ours while nobody listens there: a server that died comes back to the port where its clients ask for it. Another Lote's
 * server in its place would take their questions for its own, answer that it knows no such run, and hand its work to our workers.
 * @throws LoteError `port-taken`
 */
export async function chooseHeldPort(wish: PortWish, env: NodeJS.ProcessEnv = process.env): Promise<HeldPort> {
  const passed = [...(wish.reserved ?? [])];
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- each port is asked for after the one before was held by another
    const port = await choosePort({ ...wish, reserved: passed });
    // oxlint-disable-next-line no-await-in-loop
    const held = await holdPort(port, env);
    if (held !== null) return held;
    passed.push(port);
  }
}

/** Null: another process holds it. Where no lock can be kept, the port is as free as it looks. */
export async function holdPort(port: number, env: NodeJS.ProcessEnv = process.env): Promise<HeldPort | null> {
  const directory = join(cacheDirectory(env), 'ports');
  try {
    await mkdir(directory, { recursive: true });
    const lock = await openLockFile(join(directory, `${port}.lock`), 0);
    return lock === null ? null : { port, release: () => closeSync(lock) };
  } catch {
    return { port, release: () => undefined };
  }
}
