import { readFile } from 'node:fs/promises';

/** The command comes second, in brackets, and may hold anything; field 3 is the first one behind it. */
const FIRST_BEHIND_COMMAND = 3;

/** A field of /proc/<pid>/stat by its number in proc(5), from 3; undefined when there is none. Linux only. @throws when there is no such process. */
export async function statField(pid: number, field: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[field - FIRST_BEHIND_COMMAND];
}
