import { receiverCommand } from './cli/commands/receiver.ts';
import { goOnWithoutReaders } from './runtime/process/output-streams.ts';

goOnWithoutReaders();
process.exitCode = await receiverCommand(process.env);
