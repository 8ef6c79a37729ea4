import { createDropFolder } from '../../../src/nightly/claim-files.ts';
import { nightNamed } from '../../unit/nightly/drop-place.ts';

/** One night over a folder; kills itself without warning at the named point, the `nth` time it comes there. */
const [inputDir = '', letter = 'a', killAt = '', nth = '1'] = process.argv.slice(2);
const night = nightNamed(letter);
let seen = 0;
const folder = createDropFolder({
  inputDir,
  ledgerId: 'ledger-1',
  stableMs: 0,
  pause: () => Promise.resolve(),
  at: (point) => {
    if (point === killAt && (seen += 1) === Number(nth)) process.kill(process.pid, 'SIGKILL');
    return Promise.resolve();
  },
});
const { claimed } = await folder.claim(night, () => Promise.resolve(false));
for (const file of claimed) {
  const { name } = file;
  const destination = name.startsWith('bad') ? 'refused' : 'archive';
  await folder.archive({ ...file, night, batchId: null, destination, note: `note of ${name}` });
}
await folder.close(night);
