import { open } from 'node:fs/promises';
import { unlessMissing } from '../../file-system/unless-missing.ts';

/** `schema` and `batch` come first in a report, and a line break in a text is escaped: the lines of `batch` are here, but those at its end, such as `proof`. */
const HEAD_BYTES = 16 * 1024;

/** The first 16 KiB of a `report.json`, however large it is; null where an error of the system (`missing`, e.g. `ENOENT`) says that there is none. */
export async function reportHead(json: string, missing: readonly string[] = ['ENOENT']): Promise<string | null> {
  const file = await unlessMissing(open(json, 'r'), missing);
  if (file === null) return null;
  try {
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(HEAD_BYTES), position: 0 });
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}
