import { workerCommand } from './cli/commands/worker.ts';
import { goOnWithoutReaders } from './runtime/process/output-streams.ts';

goOnWithoutReaders();
process.exitCode = await workerCommand(process.env);
