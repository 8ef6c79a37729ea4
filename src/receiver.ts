import { receiverCommand } from './cli/commands/roles.ts';
import { goOnWithoutReaders } from './cli/output/terminal-text.ts';

goOnWithoutReaders();
process.exitCode = await receiverCommand(process.env);
