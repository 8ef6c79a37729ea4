import { receiverCommand } from './cli/commands/receiver.ts';
import { goOnWithoutReaders } from './cli/output/output-streams.ts';

goOnWithoutReaders();
process.exitCode = await receiverCommand(process.env);
