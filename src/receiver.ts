import { receiverCommand } from './cli/commands/receiver.ts';

process.exitCode = await receiverCommand(process.env);
