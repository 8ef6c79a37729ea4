import { workerCommand } from './cli/commands/worker.ts';
import { goOnWithoutReaders } from './cli/output/output-streams.ts';

goOnWithoutReaders();
process.exitCode = await workerCommand(process.env);
