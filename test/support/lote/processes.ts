import { startLote, type RunningCommand } from './lote-command.ts';

/** The processes of one test: whatever happens, none of them outlives it. */
export interface Processes {
  /** `command` is the script of another build than that of the tests. */
  start(parameters: readonly string[], env: Readonly<Record<string, string>>, command?: string): RunningCommand;
  killAll(): Promise<void>;
}

export function processes(): Processes {
  const started: RunningCommand[] = [];
  let isOver = false;
  return {
    start(parameters, env, command) {
      if (isOver) throw new Error('This test has ended, and starts nothing more');
      const running = startLote(parameters, env, command);
      started.push(running);
      return running;
    },
    async killAll() {
      isOver = true;
      for (const command of started) command.killGroup();
      await Promise.all(started.map(({ end }) => end));
    },
  };
}
