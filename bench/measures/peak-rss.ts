import { readFileSync } from 'node:fs';

/**
 * The most memory that this process has held since its program started, in MB. `process.resourceUsage().maxRSS` does not say so: Linux
 * counts in it what the parent held when it started the program.
 */
export function peakRssMb(): number {
  const kilobytes = /^VmHWM:\s+(\d+) kB$/mu.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
  if (kilobytes === undefined)
    throw new Error('Linux says the peak of a process in /proc/self/status, as VmHWM; it is missing there');
  return Number(kilobytes) / 1024;
}
