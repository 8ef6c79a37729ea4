import { workerCommand } from './cli/commands/roles.ts';
import { goOnWithoutReaders } from './cli/output/terminal-text.ts';

goOnWithoutReaders();
process.exitCode = await workerCommand(process.env);
