import { existsSync, readdirSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const SOURCES = ['src', 'workflows', 'activities'];
const SETTINGS = ['package.json', 'bin/build.js', 'bin/compile-files.js'];
/** Name of the file that a build writes before it reads any source. */
export const BEGUN = '.begun';
/** The end of a build. */
const LAST_WRITTEN = 'workflow-bundle.js';

/** Whether this is a checkout: an image holds the build and no sources. */
export function isSource() {
  return existsSync(`${ROOT}src/cli/main.ts`);
}

/** Whether a whole build is there, and nothing that it was made of has changed since. */
export function isBuiltLater() {
  const [begun, ended] = [BEGUN, LAST_WRITTEN].map((name) => changedAt(`${ROOT}dist/${name}`));
  return begun !== 0 && ended >= begun && newestSource() < begun;
}

/** Epoch milliseconds; a folder changes when a file in it comes or goes. */
function newestSource() {
  const folders = SOURCES.flatMap((folder) => [
    folder,
    ...readdirSync(`${ROOT}${folder}`, { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`),
  ]);
  return Math.max(...[...folders, ...SETTINGS].map((path) => changedAt(`${ROOT}${path}`)));
}

function changedAt(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
