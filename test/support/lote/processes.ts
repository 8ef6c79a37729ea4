import { startLote, type RunningCommand } from './lote-command.ts';

/** The processes of one test: whatever happens, none of them outlives it. */
export interface Processes {
  start(parameters: readonly string[], env: Readonly<Record<string, string>>): RunningCommand;
  killAll(): Promise<void>;
}

export function processes(): Processes {
  const started: RunningCommand[] = [];
  return {
    start(parameters, env) {
      const command = startLote(parameters, env);
      started.push(command);
      return command;
    },
    async killAll() {
      for (const command of started) command.killGroup();
      await Promise.all(started.map(({ end }) => end));
    },
  };
}
