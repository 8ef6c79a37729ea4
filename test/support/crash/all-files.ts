import { execFileSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';

/** Enough for what a process has open when it works; it is bounded when everything is loaded, which takes more at once. */
const MOST = 300;

/** From now on this process can open no further file. Returns what gives the files back. */
export function takeAllFiles(): () => void {
  execFileSync('prlimit', ['--pid', String(process.pid), `--nofile=${MOST}`]);
  const taken: number[] = [];
  try {
    for (;;) taken.push(openSync('/dev/null', 'r'));
  } catch {
    return () => taken.forEach((file) => closeSync(file));
  }
}
