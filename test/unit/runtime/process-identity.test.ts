import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { isAlive, ownIdentity } from '../../../src/runtime/process-identity.ts';
import { processStartTime } from '../../../src/runtime/process-start-time.ts';

describe('the identity of a process', () => {
  it('stays the same while the process lives', async () => {
    const first = await ownIdentity();

    expect(await ownIdentity()).toEqual(first);
    expect(first.pid).toBe(process.pid);
    expect(await isAlive(first)).toBe(true);
  });

  it('is dead with another start time: the pid was used again', async () => {
    expect(await isAlive({ pid: process.pid, startTime: 'earlier' })).toBe(false);
  });

  it('is dead after the process has ended', async () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
    await once(child, 'spawn');
    const pid = child.pid ?? 0;
    const startTime = (await processStartTime(pid)) ?? '';
    expect(await isAlive({ pid, startTime })).toBe(true);

    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    await exit;

    expect(await isAlive({ pid, startTime })).toBe(false);
  });

  it('does not exist for a pid that nobody has', async () => {
    expect(await processStartTime(2 ** 22 + 1)).toBeNull();
  });
});
