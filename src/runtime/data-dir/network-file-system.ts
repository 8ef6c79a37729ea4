import { statfs } from 'node:fs/promises';

/** Types of `statfs(2)` on Linux whose locks may end at this machine: whether the other machines see them is not told. */
const NETWORK_FILE_SYSTEMS: Readonly<Record<number, string>> = {
  0x6969: 'NFS',
  0x517b: 'SMB',
  0xff534d42: 'SMB (CIFS)',
  0xfe534d42: 'SMB 2',
  0x564c: 'NCP',
  0x5346414f: 'AFS',
  0x73757245: 'Coda',
};

/** The network file system that a directory lies on; null when it lies on none that is known. */
export async function networkFileSystemOf(directory: string): Promise<string | null> {
  if (process.platform !== 'linux') return null;
  return networkFileSystemOfType((await statfs(directory)).type);
}

/** Exported for its test: a network file system cannot be mounted everywhere. */
export function networkFileSystemOfType(type: number): string | null {
  // The kernel's word is signed on some machines.
  return NETWORK_FILE_SYSTEMS[type >>> 0] ?? null;
}
