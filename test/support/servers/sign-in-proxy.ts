import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('sign-in-proxy-process.ts', import.meta.url));

export type SignInProxy = Awaited<ReturnType<typeof signInProxy>>;

/** Starts a proxy in a separate process before `target` that trusts the name a client sends. It connects from `source`, a local address. */
export async function signInProxy(target: string, source: string) {
  const child = spawn(process.execPath, ['--import', 'tsx', PROGRAM, target, source], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return {
    port: Number(line.toString('utf8')),
    async stop() {
      const ended = once(child, 'exit');
      child.kill();
      await ended;
    },
  };
}
