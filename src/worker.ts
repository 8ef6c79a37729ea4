import { workerCommand } from './cli/commands/worker.ts';

process.exitCode = await workerCommand(process.env);
