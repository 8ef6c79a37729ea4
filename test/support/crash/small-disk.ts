import { execFileSync } from 'node:child_process';
import { chmodSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export type SmallDisk = NonNullable<Awaited<ReturnType<typeof smallDisk>>>;

/**
 * Mounts a separate file system that can really be full or read-only. Prints the reason and resolves to null if this user
 * may not mount.
 */
export async function smallDisk(megabytes: number) {
  const path = await mkdtemp(join(tmpdir(), 'lote-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=777`, 'tmpfs', path], { stdio: 'pipe' });
  } catch {
    process.stderr.write(
      '\n*** No small disk: this user may not mount a tmpfs. Tests of a full disk are skipped. ***\n\n',
    );
    await rm(path, { recursive: true, force: true });
    return null;
  }
  chmodSync(path, 0o777);
  const ballast = join(path, 'ballast');
  return {
    path,
    fill() {
      // Further rounds fill bytes that were freed meanwhile.
      for (let round = 0; round < 3; round += 1) {
        const { bavail, bsize } = statfsSync(path);
        if (bavail > 0) writeFileSync(`${ballast}-${round}`, Buffer.alloc(bavail * bsize));
      }
    },
    empty() {
      for (let round = 0; round < 3; round += 1) rmSync(`${ballast}-${round}`, { force: true });
    },
    /** Makes the disk read-only, or writable again. */
    readOnly(on: boolean) {
      execFileSync('mount', ['-o', `remount,${on ? 'ro' : 'rw'}`, path], { stdio: 'pipe' });
    },
    async remove() {
      execFileSync('umount', ['-l', path], { stdio: 'pipe' });
      await rm(path, { recursive: true, force: true });
    },
  };
}
