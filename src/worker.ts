import { workerCommand } from './cli/worker.ts';

process.exitCode = await workerCommand(process.env);
