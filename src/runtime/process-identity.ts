import { processStartTime } from './process-start-time.ts';

/** A process id alone proves nothing: ids are used again. With its start time it names one process. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly startTime: string;
}

/** This process. */
export async function ownIdentity(): Promise<ProcessIdentity> {
  return { pid: process.pid, startTime: (await processStartTime(process.pid)) ?? 'unknown' };
}

/** Whether exactly this process lives. */
export async function isAlive({ pid, startTime }: ProcessIdentity): Promise<boolean> {
  return (await processStartTime(pid)) === startTime;
}
