import { createDropFolder } from '../../../src/drop/drop-folder.ts';
import { nightNamed } from '../../unit/drop/night-named.ts';

/** One night over a folder; kills itself without warning at the named point, the `nth` time it comes there. */
const [inputDir = '', letter = 'a', killAt = '', nth = '1'] = process.argv.slice(2);
const night = nightNamed(letter);
let seen = 0;
const folder = createDropFolder({
  inputDir,
  setting: 'LOTE_INPUT_DIR',
  ledgerId: 'ledger-1',
  stableMs: 0,
  marker: true,
  pause: () => Promise.resolve(),
  at: (point) => {
    if (point === killAt && (seen += 1) === Number(nth)) process.kill(process.pid, 'SIGKILL');
    return Promise.resolve();
  },
});
const { claimed } = await folder.claim(night, () => Promise.resolve(false));
for (const { slot, name } of claimed) {
  const destination = name.startsWith('bad') ? 'refused' : 'archive';
  await folder.archive({ night, slot, name, destination, note: `note of ${name}` });
}
await folder.close(night);
