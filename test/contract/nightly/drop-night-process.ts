import { promises as files } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { createDropFolder } from '../../../src/nightly/claim-files.ts';
import { nightNamed } from '../../unit/nightly/drop-place.ts';

/** One night over a folder; kills itself without warning before its step number `killAt` on the disk. Prints its steps. */
const [inputDir = '', letter = 'a', killAt = ''] = process.argv.slice(2);
let steps = 0;

function counted<Args extends readonly unknown[], Result>(step: (...args: Args) => Result): (...args: Args) => Result {
  return (...args) => {
    steps += 1;
    if (steps === Number(killAt)) process.kill(process.pid, 'SIGKILL');
    return step(...args);
  };
}

files.link = counted(files.link);
files.mkdir = counted(files.mkdir) as typeof files.mkdir;
files.rename = counted(files.rename);
files.rm = counted(files.rm);
files.rmdir = counted(files.rmdir);
files.writeFile = counted(files.writeFile);
syncBuiltinESMExports();

const night = nightNamed(letter);
const folder = createDropFolder({ inputDir, ledgerId: 'ledger-1', stableMs: 0, pause: () => Promise.resolve() });
const { claimed } = await folder.claim(night, () => Promise.resolve(false));
for (const file of claimed) {
  const { name } = file;
  const destination = name.startsWith('bad') ? 'refused' : 'archive';
  await folder.archive({ ...file, night, batchId: null, destination, note: `note of ${name}` });
}
await folder.close(night);
process.stdout.write(String(steps));
